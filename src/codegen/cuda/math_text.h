// The elementary functions of codegen/math.h as CUDA C++.
#pragma once

#include <string>

#include "codegen/scalar.h"

namespace trine::codegen {

// "exp_f32" for what math.h defines, else empty.
std::string function_name(ScalarOp op);
// `__device__ inline float exp_f32(float x) {...}`, with math.h's formula.
std::string function_text(ScalarOp op);

}  // namespace trine::codegen
