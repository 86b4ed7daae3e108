// The driver's library, loaded once.
#pragma once

#include <string>

#include "backends/cuda/api.h"

namespace trine::cuda {

constexpr int kOldestDriver = 12000;  // CUDA 12.0

struct Driver {
  Api api{};
  int version = 0;      // 12040: CUDA 12.4
  int devices = 0;      // 0: cannot be used
  std::string problem;  // why there are none
};

// Opens a library and initialises it. Never throws and prints nothing.
Driver load_driver(const std::string& library);

// That of TRINE_CUDA_DRIVER.
const Driver& driver();
inline const Api& api() { return driver().api; }

// "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"
std::string words_of(const Api& api, Result result);

}  // namespace trine::cuda
