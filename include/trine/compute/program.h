// What `trine cc` makes: the device's part of a program in CUDA C++, compiled once and carried by the executable.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trine/compute/module.h"

namespace trine::compute {

struct CompiledProgram {
  std::string bytes;     // what Module::load takes: LLVM IR for every device, PTX for those that were named
  std::string warnings;  // of the compiler
  // Of a unit (CompileOptions::unit): device functions and variables, as in the source: what it defines for others,
  // what others may define too (of templates), and what it wants of others.
  std::vector<std::string> defined, shared, wanted;
};

// `source` is the text of a .cu file, host code and all when options.whole_program is set; `architectures` are GPUs
// ("sm_90") that find PTX ready. Throws as Module::compile does.
CompiledProgram compile_program(std::string_view source, const CompileOptions& options,
                                const std::vector<std::string>& architectures = {});

// Names and texts of <cuda_runtime.h> and what it includes, for the compiler of the host's part. Throws
// Error{unsupported} when there is no libtrine_simt.
std::vector<std::pair<std::string, std::string>> program_headers();

}  // namespace trine::compute
