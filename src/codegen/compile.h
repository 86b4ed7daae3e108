// The module libtrine_llvm: machine code for loop kernels. Opened with dlopen (engine/build/generate.h), never linked.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/object.h"

namespace trine::codegen {

struct CompileRequest {
  std::span<const LoopKernel* const> kernels;  // equal hashes are compiled once
  std::string_view cpu_level;                  // "baseline" (x86-64-v2), "avx2" (v3), "avx512" (v4)
};

struct CompileResult {
  ObjectCode object;                  // the same bytes for the same request
  std::vector<std::string> refusals;  // one line for each kernel that stays with the interpreter
};

// What the module exports, as "trine_llvm_compile". Throws Error{unsupported} for an unknown level.
using CompileFunction = void (*)(const CompileRequest& request, CompileResult& result);
// And "trine_llvm_stamp": what the module was built from. A module of other headers than the caller's must not be used.
using StampFunction = const char* (*)();

}  // namespace trine::codegen
