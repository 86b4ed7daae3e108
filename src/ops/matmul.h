// The matrix product of all matmul-like operators, with NumPy's rules: batch dimensions broadcast, a 1-D operand is a
// row (left) or a column (right) that the result does not keep.
#pragma once

#include "graph/eval.h"
#include "graph/infer.h"

namespace trine {

struct MatmulShape {
  Shape a_batch, b_batch, batch;  // without the matrix dimensions
  Dim m, k, n;
  bool keep_m = true, keep_n = true;
  Shape out() const;

  // Checks the operands (both of known rank) against each other.
  static MatmulShape of(const Node& node, const Shape& a, const Shape& b, bool trans_a = false, bool trans_b = false);
};

// a_values @ b_values for concrete shapes; integer sums wrap.
std::vector<double> matmul(const MatmulShape& s, const std::vector<double>& a, const std::vector<double>& b,
                           bool trans_a = false, bool trans_b = false);
std::vector<int64_t> matmul(const MatmulShape& s, const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                            bool trans_a = false, bool trans_b = false);

}  // namespace trine
