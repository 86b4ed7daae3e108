#include "base/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trine/base/error.h"

namespace trine {
namespace {

bool write_all(int fd, std::span<const uint8_t> bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return ::fsync(fd) == 0;
}

}  // namespace

void replace_file(const std::string& path, std::span<const uint8_t> bytes) {
  const std::string temporary = fmt::format("{}.tmp{}", path, getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool done = fd >= 0 && write_all(fd, bytes);
  int error = errno;
  if (fd >= 0 && ::close(fd) != 0 && done) done = false, error = errno;
  if (done && ::rename(temporary.c_str(), path.c_str()) == 0) return;
  if (done) error = errno;
  if (fd >= 0) ::unlink(temporary.c_str());
  throw Error(ErrorCode::io, fmt::format("{}: cannot write ({}); give a path in a folder that exists and has room", path,
                                         std::strerror(error)));
}

}  // namespace trine
