#include "media/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "trine/base/error.h"

namespace trine::media {
namespace {

struct Close {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

[[noreturn]] void fail(const std::string& path, const char* what, const char* hint) {
  throw Error(ErrorCode::io, fmt::format("{}: {}: {}; {}", path, what, std::strerror(errno), hint));
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path, size_t largest) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail(path, "cannot open", "a readable file is needed");
  if (std::fseek(file.get(), 0, SEEK_END) != 0) fail(path, "cannot seek", "a regular file is needed");
  const long size = std::ftell(file.get());
  if (size < 0 || static_cast<size_t>(size) > largest) {
    throw Error(ErrorCode::io, fmt::format("{}: {} bytes; at most {} are read", path, size, largest));
  }
  std::rewind(file.get());
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  if (std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
    fail(path, "cannot read", "a readable file is needed");
  }
  return bytes;
}

void write_file(const std::string& path, std::span<const uint8_t> bytes) {
  const std::string partial = fmt::format("{}.{}.partial", path, ::getpid());
  File file(std::fopen(partial.c_str(), "wb"));
  if (!file) fail(path, "cannot write", "a folder that exists and may be written is needed");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed || std::rename(partial.c_str(), path.c_str()) != 0) {
    const int code = errno;
    std::remove(partial.c_str());
    errno = code;
    fail(path, "cannot write", "check the space left and the folder's permissions");
  }
}

}  // namespace trine::media
