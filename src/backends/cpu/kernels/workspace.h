// Carves a workspace into 64-byte aligned pieces; with a null base it only adds up sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trine::cpu {

class Carver {
 public:
  explicit Carver(void* base = nullptr) : base_(static_cast<char*>(base)) {}

  template <class T>
  T* take(size_t count) {
    const size_t at = used_;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

}  // namespace trine::cpu
