// The command line of `trine cc`: nvcc's flags and those of host compilers.
#pragma once

#include <string>
#include <vector>

#include "trine/compute/module.h"

namespace trine::cli {

struct CcArguments {
  std::vector<std::string> sources;  // .cu
  std::vector<std::string> host;     // for the host's compiler: -I, -D, -O2, -Wall, ...
  std::vector<std::string> link;     // for the linker, in order: files, -L, -l
  std::string output;
  bool compile_only = false, verbose = false;
  std::vector<std::string> architectures;  // of GPUs that find PTX ready
  compute::CompileOptions device;
  std::vector<std::string> notes;  // flags that do nothing here
};

// Throws Error{invalid_argument}.
CcArguments parse_cc(const std::vector<std::string>& words);

}  // namespace trine::cli
