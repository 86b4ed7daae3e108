// Made-up operands of a problem in plain layouts (activations nhwc, weights as ONNX has them), shared by all who are
// measured on it: random reals in [-1, 1), never zeros.
#pragma once

#include <memory>
#include <vector>

#include "trine/dnn/problem.h"

namespace trine::bench {

struct Operands {
  const float* in[dnn::kMostOperands] = {};
  const float* weights[dnn::kMostWeights] = {};
  const float* bias = nullptr;
  const float* before = nullptr;  // what out[0] holds before the first run: the residual
  int64_t sizes_in[dnn::kMostOperands] = {}, sizes_out[dnn::kMostOperands] = {};
  int64_t sizes_weights[dnn::kMostWeights] = {}, size_bias = 0;
  std::vector<std::unique_ptr<float[]>> kept;
};
Operands make_operands(const dnn::Problem& problem);

}  // namespace trine::bench
