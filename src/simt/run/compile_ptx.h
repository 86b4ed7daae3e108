// CUDA C++ to PTX through the cache.
#pragma once

#include <string>
#include <string_view>

#include "simt/device_module.h"
#include "simt/run/cache.h"
#include "trine/compute/module.h"

namespace trine::simt {

struct PtxModule {
  DeviceModule info;  // without bitcode
  std::string ptx;
  bool cached = false;  // was found there
};

// From the cache, else by the compiler, and then into the cache. `architecture` as in "sm_90"; `version` 80 is PTX 8.0.
// Throws what the compiler throws.
PtxModule compile_ptx(std::string_view source, const compute::CompileOptions& options, std::string_view architecture,
                      int version, const Cache& cache);

// As text of the cache, and back: nothing when it is damaged.
std::string encode(const PtxModule& module);
std::optional<PtxModule> decode(std::string_view bytes);

}  // namespace trine::simt
