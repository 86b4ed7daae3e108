// How much memory the process may use for tensors: TRINE_MAX_MEM, else what the machine has. A model of a few bytes can
// ask for terabytes; it gets an Error that names the bytes instead.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "trine/base/error.h"

namespace trine {

int64_t memory_limit();   // bytes
int64_t memory_in_use();  // bytes of the tensors now alive, mapped files not counted

// While it lives, the limit is at most `bytes` (0: as it is).
class MemoryCap {
 public:
  explicit MemoryCap(size_t bytes);
  ~MemoryCap();
  MemoryCap(const MemoryCap&) = delete;
  MemoryCap& operator=(const MemoryCap&) = delete;

 private:
  int64_t before_;
};

// Throws Error{out_of_memory} when `bytes` more than the tensors now alive would pass the limit.
void need_memory(double bytes);

// Counts bytes of a tensor's life; need_memory sees them.
void take_memory(int64_t bytes);
void give_memory(int64_t bytes);

// f(), with the exceptions of the standard library's containers as Error{out_of_memory}.
template <class F>
auto with_memory_errors(std::string_view where, F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                std::string(where) + ": memory for its values cannot be had; make the shapes smaller");
  } catch (const std::length_error&) {
    throw Error(ErrorCode::out_of_memory,
                std::string(where) + ": its values exceed the address space; make the shapes smaller");
  }
}

}  // namespace trine
