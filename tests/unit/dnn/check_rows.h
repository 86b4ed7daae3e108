// Runs every kernel row that this machine can run on one problem and compares it with plain f64 loops: once with small
// integers, where every f32 sum is exact and the tolerance is 0, once with reals against a bound of rounding errors.
// Outputs and workspace stand between guards, several numbers of threads must give the same bits.
#pragma once

#include <bit>
#include <functional>
#include <vector>

#include "dnn/kernel_row.h"
#include "dnn/operands.h"

namespace trine::dnn::test {

using Floats = std::vector<float>;

// Made-up operands of a problem, as numbers that the problem's types hold exactly.
struct Data {
  Floats in[kMostOperands], weights[kMostWeights], bias, residual;
  Floats scales;                                 // of 8-bit integers
  Quantization quantization;                     // without its pointer
  std::vector<int32_t> integers[kMostOperands];  // where an operand holds i32, instead of `in`
  std::vector<int64_t> indices;                  // gather
  std::vector<uint8_t> mask;                     // attention, boolean
};

// What f64 loops say: the values, and a bound of the error of f32 sums in any order.
struct Expected {
  std::vector<double> out[kMostOperands];
  std::vector<double> bound[kMostOperands];  // all zero: exact
  // Convolutions of bf16: the bound where products are of transformed values rounded to bf16.
  std::vector<double> bound_of_transforms;
};
using Oracle = std::function<Expected(const Problem&, const Data&)>;

struct Options {
  bool integers = true;  // also the exact run
  bool winograd_is_exact = false;
  std::function<void(Data&)> adjust = {};  // changes the data before the oracle sees it
  int least_rows = 1;                      // so many rows must have fitted
  std::vector<int> threads = {2, 7};       // must give the bits of one
  // Also in f16 and bf16, and 8-bit integers where the problem has them and nothing is adjusted: the same numbers
  // rounded to the type before the oracle sees them, its results rounded once.
  bool narrow = true;
};

void check_rows(const Problem& problem, const Oracle& oracle, const Options& options = {});

// What the gaps between strided rows hold before a row runs, and must hold afterwards: bytes of 0xa5.
double untouched(DType type = DType::f32);
// The f16, bf16 or 8-bit integer next to x, ties to even; integers saturate and take 0 for a NaN.
double round_to(DType type, double x);
// The same problem with operands of `type`, as far as it has them; itself when it is a contraction or has none.
Problem with_type(const Problem& problem, DType type);

// The f64 oracles.
Expected conv_oracle(const Problem& problem, const Data& data);
Expected matmul_oracle(const Problem& problem, const Data& data);
Expected pool_oracle(const Problem& problem, const Data& data);
Expected attention_oracle(const Problem& problem, const Data& data);
Expected rnn_oracle(const Problem& problem, const Data& data);
Expected resize_oracle(const Problem& problem, const Data& data);

// Applies an epilogue to a sum whose error is at most `bound`.
struct Bounded {
  double value, bound;
};
Bounded finish(const Epilogue& epilogue, double sum, double bound, double bias, double residual);
// The same for exact sums of 8-bit integers, zero points taken off already; see Quantization.
Bounded finish_integers(const ElementTypes& types, Quantization quantization, float scale, Epilogue epilogue,
                        double sum, double bias, double residual);

}  // namespace trine::dnn::test
