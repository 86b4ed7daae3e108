// Scalar operations, types and constants as CUDA C++ (backends/cuda/kernels/loops.cuh).
#pragma once

#include <string>

#include "codegen/loop_ir.h"

namespace trine::codegen {

std::string compute_type_text(DType type);  // "float"
std::string memory_type_text(DType type);   // "F16"
std::string constant_text(DType type, uint64_t bits);
// Throw Error{unsupported} where the interpreter has no function either.
std::string unary_text(ScalarOp op, DType type, const std::string& a);
std::string binary_text(ScalarOp op, DType type, const std::string& a, const std::string& b);
std::string cast_text(DType from, DType to, const std::string& a);
std::string fold_text(Reduce fold, DType type);  // "Sum<float>"

}  // namespace trine::codegen
