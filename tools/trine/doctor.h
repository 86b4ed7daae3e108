// Findings of `trine doctor`.
#pragma once

#include <string>
#include <vector>

namespace trine::cli {

enum class State : unsigned char { good, note, bad };

struct Finding {
  State state;
  std::string what, found, advice;  // advice empty: nothing to do
};

// CUDA's version as its libraries count: 12040 is 12.4.
std::string cuda_version_text(int version);

// What is here of NVIDIA's: driver, GPUs, WSL or Jetson, and the optional libraries. Findings of a machine without a
// GPU are good: nothing is missing there.
std::vector<Finding> gpu_findings();

// How a library that was built with CUDA `built` does with a driver that takes `driver` (0: none is here).
Finding judge_library(const std::string& what, const std::string& found, int built, int driver,
                      const std::string& package);

}  // namespace trine::cli
