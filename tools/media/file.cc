#include "media/file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "trine/base/error.h"
#include "trine/base/replace_file.h"

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
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {  // opening a pipe would wait for its writer
    throw Error(ErrorCode::io, fmt::format("{}: is no regular file; give a file", path));
  }
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

void write_file(const std::string& path, std::span<const uint8_t> bytes) { replace_file(path, bytes); }

}  // namespace trine::media
