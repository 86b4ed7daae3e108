#include "base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "trine/base/error.h"

namespace trine {

namespace fs = std::filesystem;

FileLock::FileLock(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);  // two names of one file have one lock
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  const std::string lock = (target.empty() ? fs::path(path) : target).string() + ".lock";
  fd_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    throw Error(ErrorCode::io,
                fmt::format("{}: cannot write ({}); give a path in a folder that exists and may be written", lock,
                            std::strerror(errno)));
  }
  while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace trine
