// How problems of narrow types are cut into problems of f32: along their leading dimension, batch norms along their
// channels, where nothing is summed over it, so that what is widened at a time stays small.
#pragma once

#include "dnn/operands.h"

namespace trine::cpu {

struct Slices {
  int64_t units = 1;  // of the leading dimension; 1: the problem is not cut; 0: there is nothing to do
  int64_t least = 1;  // units of a slice
  // From one unit to the next, in elements; 0: every slice reads the whole operand.
  int64_t in_step[dnn::kMostOperands] = {}, out_step[dnn::kMostOperands] = {}, residual_step = 0;
};
Slices slices_of(const dnn::Problem& problem);

// Units [begin, end) as a problem of f32; all of them: the problem itself in f32.
dnn::Problem slice_of(const dnn::Problem& problem, int64_t begin, int64_t end);

// The rows of an operand that a problem touches: gaps between them are neither read nor written.
struct Rows {
  int64_t count[3] = {1, 1, 1}, stride[3] = {0, 0, 0};
  int64_t length = 0;
  int64_t slice_stride = stride[2];  // of the last, where a slice closes up what the whole has far apart

  int64_t number() const { return length ? count[0] * count[1] * count[2] : 0; }
  int64_t offset(int64_t row) const { return outer(row) + row % count[2] * stride[2]; }
  int64_t slice_offset(int64_t row) const { return outer(row) + row % count[2] * slice_stride; }

 private:
  int64_t outer(int64_t row) const {
    return row / (count[1] * count[2]) * stride[0] + row / count[2] % count[1] * stride[1];
  }
};
enum class Side : uint8_t { in, out, residual };
Rows rows_of_operand(const dnn::Problem& problem, const dnn::Problem& slice, Side side, int i);
// Whether the operand is copied though it is f32: statistics [2][sets] of a slice are not one piece of the whole.
bool is_apart(const dnn::Problem& problem, Side side, int i);

// The types that a kind of problem may have beside f32: "f16 and bf16", or 8-bit integers too, or none.
enum class NarrowTypes : uint8_t { none, halves, all };
NarrowTypes narrow_types(const dnn::Problem& problem);
bool is_narrow(DType type, NarrowTypes types);

}  // namespace trine::cpu
