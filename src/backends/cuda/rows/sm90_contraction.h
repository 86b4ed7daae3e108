// What the tables of contractions of compute capability 9.0 share: what a problem is to their kernels, tensor maps,
// packed weights.
#pragma once

#include "backends/cuda/kernels/contract_params.cuh"
#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {

constexpr int64_t kSm90Block = 64;  // elements of k that a stage holds

// What both problems are to the kernels.
struct Sm90Contraction {
  int64_t m = 0, n = 0, k = 0;  // k: of one tap
  int64_t taps = 1;
  bool image = false;
  bool packs = true;  // b comes packed
  int64_t out_stride = 0, row_stride = 0;
  float alpha = 1;
  dnn::Epilogue epilogue = {};
  dnn::ElementTypes types = {};

  int64_t chunks() const { return ceil_div(k, kSm90Block); }
  int64_t blocks() const { return taps * chunks(); }
};

Sm90Contraction sm90_contraction(const dnn::Problem& problem);  // a ConvProblem or a MatmulProblem

// Null when the kernels can compute it, whatever the tile, else why not.
const char* sm90_misfit(const dnn::Problem& problem);

// Of operands: blocks of k of `rows` rows, or of windows of the image of a convolution; of as many columns.
compute::TensorMapArgument sm90_map_of_a(const dnn::Problem& problem, int rows);
compute::TensorMapArgument sm90_map_of_b(const Sm90Contraction& c, int columns);

ContractParams sm90_params(const dnn::Problem& problem, int stages);  // k undivided

// Weights as [n][tap][k], where they are constant.
size_t sm90_packed_bytes(const dnn::DeviceRow&, const dnn::Problem& problem);
void sm90_prepack(const dnn::DeviceRow&, const dnn::Problem& problem, std::span<const void* const> weights,
                  void* packed);

}  // namespace trine::cuda
