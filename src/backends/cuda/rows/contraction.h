// What rows of contractions share: their kernels' arguments made from problems, refusals, times.
#pragma once

#include "backends/cuda/kernels/contraction_args.cuh"
#include "backends/cuda/rows/row_support.h"

namespace trine::cuda {

// The number of kernels' types; throws for one that contractions do not have.
contraction::Number number_of(DType type);

contraction::Finish finish_of(const dnn::ElementTypes& types, const dnn::Epilogue& epilogue, float alpha,
                              const dnn::Quantization& quantization);

// Null when the types and epilogue are those that element_types.h allows, else why not.
const char* types_refusal(const dnn::ElementTypes& types, const dnn::Epilogue& epilogue);
const char* refusal_of(const dnn::ConvProblem& p);
const char* refusal_of(const dnn::MatmulProblem& p);

// A product of matrices as a batch of products that differ in a or b; rows of several are one where b is shared.
struct MatmulShape {
  int64_t rows = 0, batch = 1;
  contraction::Batches batches{};

  explicit MatmulShape(const dnn::MatmulProblem& p);
};
contraction::Window window_of(const dnn::ConvProblem& p);

inline int64_t volume(const dnn::Extents& e) { return e[0] * e[1] * e[2]; }
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// The operands that every kernel of contractions ends with: bias, residual, scale, y.
void add_finish_operands(const dnn::ElementTypes& types, const dnn::Epilogue& epilogue,
                         std::vector<compute::DeviceArgument>& arguments);

// Whether kernels are instances that wait for the kernel before them in themselves (LaunchShape::overlap).
inline bool overlaps(const dnn::DeviceTraits& traits) { return traits.architecture >= 90; }

// Seconds of a launch of `blocks` blocks, each of which reads so many bytes and does so many operations at
// `block_flops` a second; `resident` blocks share a multiprocessor.
double launch_seconds(const dnn::DeviceTraits& traits, double blocks, double bytes, double flops, double block_flops,
                      int resident = 1);

}  // namespace trine::cuda
