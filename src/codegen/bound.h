// The numbers of a bound kernel: every Dim evaluated.
#pragma once

#include "codegen/loop_kernel.h"

namespace trine::codegen {

struct Numbers {
  std::vector<int64_t> extents;   // per loop
  std::vector<int64_t> accesses;  // per access: offset, then a stride per loop; in elements
  size_t loops = 0;

  int64_t offset(int access) const { return accesses[static_cast<size_t>(access) * (loops + 1)]; }
  int64_t stride(int access, int loop) const {
    return accesses[static_cast<size_t>(access) * (loops + 1) + 1 + static_cast<size_t>(loop)];
  }
};

// Evaluates every Dim, then merges neighbouring loops that every access walks as one.
Numbers numbers_of(const LoopKernel& kernel, const Bindings& bindings);

}  // namespace trine::codegen
