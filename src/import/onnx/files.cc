#include "import/onnx/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trine/base/error.h"

namespace trine::onnx {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

[[noreturn]] void fail_io(std::string_view path, std::string_view what) {
  throw Error(ErrorCode::io, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

struct stat status_of(const FileDescriptor& file, std::string_view path) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) fail_io(path, "cannot be read");
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::io, fmt::format("{}: is no regular file; give a file", path));
  return status;
}

FileBytes map(const FileDescriptor& file, size_t size, std::string_view path) {
  if (size == 0) return {};
  void* p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (p == MAP_FAILED) fail_io(path, "cannot be mapped");
  return {{static_cast<const char*>(p), size}, {p, [size](const void* q) { ::munmap(const_cast<void*>(q), size); }}};
}

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

[[noreturn]] void refuse(std::string_view location, std::string_view why) {
  throw Error(ErrorCode::invalid_model,
              fmt::format("external data '{}': {}; it must be a plain file below the model's folder", location, why));
}

// Kernels before 5.6 and some sandboxes have no openat2: walk the path and follow no link.
FileDescriptor open_by_components(int folder, const std::string& location) {
  FileDescriptor at(-1);
  int parent = folder;
  for (size_t begin = 0;;) {
    const size_t end = location.find('/', begin);
    const std::string part = location.substr(begin, end - begin);
    const bool last = end == std::string::npos;
    if (!part.empty() && part != ".") {
      at = FileDescriptor(::openat(parent, part.c_str(), kOpenFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY)));
      if (!at.is_open()) return at;
      parent = at.get();
    }
    if (last) return at;
    begin = end + 1;
  }
}

FileDescriptor open_beneath(int folder, const std::string& location) {
  open_how how{};
  how.flags = static_cast<uint64_t>(kOpenFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  FileDescriptor file(static_cast<int>(::syscall(SYS_openat2, folder, location.c_str(), &how, sizeof how)));
  if (file.is_open() || (errno != ENOSYS && errno != EPERM)) return file;
  return open_by_components(folder, location);
}

bool has_parent_step(std::string_view path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

FileBytes map_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), kOpenFlags));
  if (!file.is_open()) fail_io(path, "cannot be opened");
  return map(file, static_cast<size_t>(status_of(file, path).st_size), path);
}

const FileBytes& DataFolder::open(std::string_view location) {
  if (const auto it = files_.find(location); it != files_.end()) return it->second;
  if (folder_.empty()) refuse(location, "the model was read from memory and has no folder");
  if (location.empty()) refuse(location, "the location is empty");
  if (const size_t zero = location.find('\0'); zero != std::string_view::npos)
    refuse(location.substr(0, zero), "the location holds a zero byte");
  if (location.front() == '/') refuse(location, "the location is absolute");
  if (has_parent_step(location)) refuse(location, "the location climbs out of the folder");

  const FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) fail_io(folder_, "cannot be opened");
  const std::string path(location);
  const FileDescriptor file = open_beneath(folder.get(), path);
  if (!file.is_open()) {
    if (errno == ELOOP || errno == EXDEV) refuse(location, "the path leads over a symbolic link or out of the folder");
    fail_io(fmt::format("external data '{}'", location), "cannot be opened");
  }
  const struct stat status = status_of(file, fmt::format("external data '{}'", location));
  if (status.st_nlink != 1) refuse(location, "the file has several hard links (copy it)");
  return files_.emplace(path, map(file, static_cast<size_t>(status.st_size), location)).first->second;
}

}  // namespace trine::onnx
