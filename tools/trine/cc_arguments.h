// The command line of `trine cc`: nvcc's flags and those of host compilers.
#pragma once

#include <string>
#include <vector>

#include "trine/compute/module.h"

namespace trine::cli {

struct CcArguments {
  std::vector<std::string> sources;  // .cu, and other C++ and C, in order
  std::vector<std::string> host;     // for the host's compiler: -I, -D, -O2, -Wall, ...
  std::vector<std::string> link;     // for the linker, in order: files, -L, -l
  std::string output;
  bool compile_only = false, verbose = false;
  bool relocatable = false;                 // device code uses that of other files
  bool library = false, link_only = false;  // -lib, -dlink
  bool all_cuda = false;                    // -x cu: whatever their names end in
  std::vector<std::string> architectures;   // of GPUs that find PTX ready
  compute::CompileOptions device;
  std::vector<std::string> notes;  // flags that do nothing here
};

bool is_cuda(const CcArguments& arguments, const std::string& source);

// Throws Error{invalid_argument}.
CcArguments parse_cc(const std::vector<std::string>& words);

}  // namespace trine::cli
