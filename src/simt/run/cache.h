// Compiled kernels on disk, so that programs compile once, and machines without a compiler run what others compiled.
//
// A file for each entry, named by its key; replaced in one piece, checked by a hash when read. What cannot be read or
// written is as if it were not there: a cache never makes a program fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trine::simt {

constexpr uint64_t kCacheBytes = uint64_t{256} << 20;

class Cache {
 public:
  // An empty folder keeps nothing. It is made when something is stored.
  explicit Cache(std::string folder, uint64_t most_bytes = kCacheBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  std::optional<std::string> find(const std::string& key) const;
  // When the folder then holds more than most_bytes, what was not used for longest goes.
  void store(const std::string& key, std::string_view bytes) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  uint64_t most_bytes_;
};

// TRINE_CACHE, else trine/ in XDG_CACHE_HOME, else .cache/trine in HOME; there, the folder `kernels`. Empty: no cache.
std::string cache_folder();

// 32 hexadecimal digits of all that was added, in order.
class KeyHash {
 public:
  void add(std::string_view text);
  void add(uint64_t number) { add(std::to_string(number)); }
  std::string text() const;

 private:
  std::string all_;  // sizes and texts
};

}  // namespace trine::simt
