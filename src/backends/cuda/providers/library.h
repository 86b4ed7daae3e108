// What providers share: functions out of vendors' libraries, and biases as those want them.
#pragma once

#include <dlfcn.h>

#include <string>

#include "dnn/device_row.h"

namespace trine::cuda {

template <class F>
bool take(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

// Tests have a library that pretends, which computes on the CPU: its path, before anything is asked for. Empty: that
// of the vendor.
struct PretendedLibraries {
  std::string cublaslt, cudnn;
};
PretendedLibraries& pretended_libraries();

// `count` elements of f32 at `from` become f16 or bf16 at `to`.
void narrow(const compute::Device& device, compute::Stream& stream, const void* from, void* to, int64_t count,
            DType half);
// Compiles what narrow() needs, so that it can be captured.
void prepare_narrow(const compute::Device& device);

}  // namespace trine::cuda
