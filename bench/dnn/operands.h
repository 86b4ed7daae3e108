// Made-up operands of a problem in plain layouts (activations nhwc, weights as ONNX has them) and in its own number
// types, shared by all who are measured on it: random reals in [-1, 1), never zeros, and integers over their whole
// range, with a scale under which most results fit the output.
#pragma once

#include <memory>
#include <vector>

#include "trine/dnn/problem.h"

namespace trine::bench {

struct Operand {
  const void* data = nullptr;  // 64-byte aligned
  DType type = DType::f32;
  int64_t count = 0;

  explicit operator bool() const { return data != nullptr; }
};

struct Operands {
  Operand in[dnn::kMostOperands], weights[dnn::kMostWeights], bias;
  Operand before;                   // what out[0] holds before the first run: the residual
  Operand out[dnn::kMostOperands];  // what there is room for; no data
  dnn::Quantization quantization;   // what 8-bit integers stand for; its scales lie in `scales`
  std::vector<float> scales;        // one, or one for each channel; none where there is no quantization
  std::vector<std::unique_ptr<char[]>> kept;
};
// `quantization` tells all but the scales of sums.
Operands make_operands(const dnn::Problem& problem, const dnn::Quantization& quantization = {});

// Terms of the sum that one output is.
double terms(const dnn::Problem& problem);

// Uninitialised, 64-byte aligned.
void* aligned_memory(std::vector<std::unique_ptr<char[]>>& kept, size_t bytes);

// Numbers of any type that operands have.
std::vector<float> as_floats(DType type, const void* data, int64_t count);

}  // namespace trine::bench
