// What the front end makes of CUDA C++: a module of LLVM IR for nvptx64, and what it holds. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trine::simt {

struct Parameter {
  uint32_t offset, bytes;  // in the block of parameters, as in PTX's .param space
};

struct KernelInfo {
  std::string symbol;  // mangled
  std::string name;    // demangled: "scale<float>(float*, float, int)"
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;      // of the block
  uint32_t shared_bytes = 0;         // static; 0 until code is made for the CPU
  uint32_t most_threads = 1024;      // __launch_bounds__
  std::vector<std::string> aliases;  // as CompileOptions::instances has it: "scale<T>"
};

struct VariableInfo {
  std::string symbol, name;
  uint64_t bytes = 0;
  bool constant = false, managed = false;
};

struct DeviceModule {
  std::string bitcode;  // LLVM 22; nvptx64; not optimised
  std::vector<KernelInfo> kernels;
  std::vector<VariableInfo> variables;
  std::string warnings;                              // clang's, one diagnostic after the other
  std::vector<std::string> defined, shared, wanted;  // of CompileOptions::unit; see CompiledProgram
};

}  // namespace trine::simt
