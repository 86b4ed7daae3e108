// NVIDIA's libraries that may be there: NVRTC, cuBLASLt, cuDNN, NCCL. Nothing needs them. In libtrine_compute.
#pragma once

#include <string>
#include <vector>

namespace trine::compute {

struct VendorLibrary {
  void* handle = nullptr;  // of dlopen, never closed; null: not found
  std::string path;        // the file that was opened
  std::string problem;     // why there is none
};

// Opens the first of `names` ("libcudnn.so.9") that is found: where the system looks, then in the folders of CUDA
// toolkits (CUDA_HOME, CUDA_PATH, /usr/local/cuda*), then in the packages that pip or conda install (VIRTUAL_ENV,
// CONDA_PREFIX, ~/.local, /usr, /usr/local, /opt). A library that is there but cannot be opened is told in `problem`.
VendorLibrary open_vendor_library(const std::vector<std::string>& names);

}  // namespace trine::compute
