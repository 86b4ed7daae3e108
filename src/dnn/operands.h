// Operands: the sizes of what a problem reads and writes, for whoever must make up data: measurements, tests,
// benchmarks.
#pragma once

#include <algorithm>
#include <optional>

#include "dnn/kernel_row.h"

namespace trine::dnn {

// In elements (bytes, of type u8, for copy and gather data); 0 where there is none. Slack that strides leave
// out is included.
struct OperandSizes {
  int64_t in[kMostOperands] = {};
  int64_t weights[kMostWeights] = {};  // as prepack takes them
  int64_t out[kMostOperands] = {};
  int64_t bias = 0, residual = 0;
  int64_t scales = 0;                                   // of Quantization
  std::optional<int32_t> integers[kMostOperands] = {};  // this input holds i32; a value that all may have

  DType in_types[kMostOperands], out_types[kMostOperands];
  DType weight_types[kMostWeights];
  DType bias_type = DType::f32, residual_type = DType::f32;

  OperandSizes() {
    std::fill_n(in_types, kMostOperands, DType::f32);
    std::fill_n(out_types, kMostOperands, DType::f32);
    std::fill_n(weight_types, kMostWeights, DType::f32);
  }
};
OperandSizes operand_sizes(const Problem& problem);

}  // namespace trine::dnn
