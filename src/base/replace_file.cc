#include "trine/base/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "trine/base/error.h"

namespace trine {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux follows them

[[noreturn]] void fail(const std::string& path, const std::string& why, const char* advice) {
  throw Error(ErrorCode::io, fmt::format("{}: cannot write ({}); {}", path, why, advice));
}

[[noreturn]] void fail(const std::string& path, int error) {
  fail(path, std::strerror(error), "give a path in a folder that exists and has room");
}

bool write_all(int fd, std::span<const uint8_t> bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

// A device, or a pipe that somebody reads: bytes go through it, and it stays what it is.
void write_through(const std::string& path, std::span<const uint8_t> bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) fail(path, errno == ENXIO ? "nobody reads it" : std::strerror(errno), "give a path of a regular file");
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  const bool done = write_all(fd, bytes);
  const int error = errno;
  if (::close(fd) != 0 && done) fail(path, errno);
  if (!done) fail(path, error);
}

// The file that the last of a chain of links names; it need not be there.
std::string behind_links(const std::string& path) {
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(at, error)); ++i)
    at = at.parent_path() / fs::read_symlink(at, error);  // an absolute target replaces the folder
  return at.string();
}

void write_beside_and_rename(const std::string& path, const std::string& target, mode_t mode, bool keep_mode,
                             std::span<const uint8_t> bytes) {
  const std::string temporary = fmt::format("{}.tmp{}", target, getpid());
  ::unlink(temporary.c_str());  // of a process that died
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  bool done = fd >= 0 && (!keep_mode || ::fchmod(fd, mode) == 0) && write_all(fd, bytes) && ::fsync(fd) == 0;
  int error = errno;
  if (fd >= 0 && ::close(fd) != 0 && done) done = false, error = errno;
  if (done && ::rename(temporary.c_str(), target.c_str()) == 0) return;
  if (done) error = errno;
  if (fd >= 0) ::unlink(temporary.c_str());
  fail(path, error);
}

}  // namespace

void check_replaceable(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, errno);
    const fs::path folder = fs::path(behind_links(path)).parent_path();
    if (path.empty() || (!folder.empty() && ::stat(folder.c_str(), &status) != 0)) fail(path, ENOENT);
    return;
  }
  if (S_ISDIR(status.st_mode)) fail(path, "a folder", "give the path of a file");
  if (S_ISBLK(status.st_mode)) fail(path, "a block device", "give a path of a regular file");
  // Root may write anything, and anyone with the folder may rename: the owner's wish is in the mode.
  if (S_ISREG(status.st_mode) && ((status.st_mode & 0222) == 0 || ::access(path.c_str(), W_OK) != 0))
    fail(path, "write-protected", "give another path, or allow it with chmod u+w");
}

void replace_file(const std::string& path, std::span<const uint8_t> bytes) {
  check_replaceable(path);
  struct stat status{};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (there && !S_ISREG(status.st_mode)) return write_through(path, bytes);
  write_beside_and_rename(path, behind_links(path), there ? status.st_mode & 07777 : 0644, there, bytes);
}

}  // namespace trine
