// Which memory the program has been given: for frees, copies whose direction is to be guessed, and pointer attributes.
#pragma once

#include "cudart/state.h"

namespace trine::cudart {

struct Allocation {
  char* begin;
  size_t bytes;
  cudaMemoryType type;
  int device;
  unsigned flags;
  bool pinned;                // of BackendTable::allocate_host
  bool registered = false;    // the program's own, since cudaHostRegister
  char* on_device = nullptr;  // where kernels find `begin`, when that is elsewhere

  void* for_kernels(const void* address) const {
    return (on_device ? on_device : begin) + (static_cast<const char*>(address) - begin);
  }
};

// The allocation that holds the address; false when there is none.
bool find_allocation(const void* address, Allocation& found);
// Throws Failure{cudaErrorInvalidValue} for bytes that begin in an allocation and end outside of it.
void need_inside(const void* address, size_t bytes);

}  // namespace trine::cudart
