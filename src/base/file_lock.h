// A lock between processes, and between threads of one.
#pragma once

#include <string>

namespace trine {

// Held while it lives: nobody else holds the lock of this file. It is advisory, and lies beside the file as
// `PATH.lock`, which stays there: the file itself is replaced, and a lock of the old one would not keep anybody from
// the new one. Where the file system has no locks, or `path` is a device or a pipe, nothing is locked. Throws
// Error{io}.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace trine
