// Machine code for loop kernels: one position-independent blob (text and constants, no relocations left) that can be
// mapped anywhere and called without LLVM.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/loop_kernel.h"

namespace trine::codegen {

struct ObjectCode {
  std::string cpu_level;  // "baseline", "avx2", "avx512": what it needs
  std::vector<uint8_t> blob;
  std::map<uint64_t, uint32_t> offsets;  // kernel hash -> entry in the blob
};

// The blob in executable memory (never writable and executable at once).
class LoadedCode {
 public:
  // Throws Error{device} when the system refuses executable memory.
  explicit LoadedCode(const ObjectCode& object);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  LoopEntry find(uint64_t kernel_hash) const;  // null when the object has no such kernel

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  std::map<uint64_t, uint32_t> offsets_;
};

}  // namespace trine::codegen
