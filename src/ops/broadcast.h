// NumPy broadcasting for references: shapes are aligned at the right, a dimension of size 1 repeats.
//
//   Dims out = broadcast_dims({&a.dims(), &b.dims()});
//   for (Walk w(out, {broadcast_strides(a.dims(), out), broadcast_strides(b.dims(), out)}); !w.done(); w.next())
//     y[w.position()] = av[w.offset(0)] + bv[w.offset(1)];
#pragma once

#include "trine/base/tensor.h"

namespace trine {

using Strides = std::vector<int64_t>;  // step in elements, one for each dimension

// Row-major strides of a dense tensor.
Strides dense_strides(const Dims& dims);

// The common shape; throws Error{invalid_argument} naming both shapes when they do not go together.
Dims broadcast_dims(const Dims& a, const Dims& b);
Dims broadcast_dims(std::initializer_list<const Dims*> shapes);

// Strides that read a dense tensor of shape `from` as if it had shape `to`: 0 where a dimension repeats. `from` must
// broadcast to `to` (unidirectionally), else Error{invalid_argument}.
Strides broadcast_strides(const Dims& from, const Dims& to);

// Visits the elements of a box in row-major order, carrying the element offset of each operand.
class Walk {
 public:
  Walk(const Dims& dims, std::vector<Strides> strides);

  bool done() const { return position_ == count_; }
  int64_t position() const { return position_; }  // linear index in the box
  int64_t offset(size_t operand) const { return offsets_[operand]; }
  const Dims& index() const { return index_; }
  void next();

 private:
  Dims dims_;
  std::vector<Strides> strides_;
  Dims index_;
  std::vector<int64_t> offsets_;
  int64_t position_ = 0;
  int64_t count_ = 0;
};

}  // namespace trine
