// Data movement shared by operators: elements are moved as bytes (or strings), never looked at.
#pragma once

#include "ops/broadcast.h"

namespace trine {

// A strided selection of an array's elements: (i_0, ..., i_n) stands for element offset + sum i_k * strides[k].
struct View {
  Dims dims;
  Strides strides;
  int64_t offset = 0;

  static View whole(const Dims& dims) { return {dims, dense_strides(dims), 0}; }
  // Keeps [start, start + count) of one dimension.
  View range(int axis, int64_t start, int64_t count) const;
};

// A tensor under construction. Every element must be written before take(), unless zero() was called.
class TensorBuilder {
 public:
  TensorBuilder(DType dtype, Dims dims);
  static TensorBuilder copy_of(const Tensor& tensor);

  void zero();                     // zeros, or empty strings
  void fill(const Tensor& value);  // one element, everywhere
  void copy(int64_t to, const Tensor& from, int64_t at, int64_t count = 1);
  void copy(const View& to, const Tensor& from, const View& at);  // views of equal dimensions
  Tensor take();

 private:
  Tensor tensor_;  // undefined for strings
  Dims dims_;
  std::vector<std::string> strings_;  // of a string tensor
  bool is_string_;
};

// The elements that `view` selects, as a tensor of the view's dimensions.
Tensor copy_view(const Tensor& source, const View& view);

// Steps a multi-index through a box in row-major order; false when it wraps to all zeros. The box must not be empty.
bool next_index(std::vector<int64_t>& index, const Dims& dims);

}  // namespace trine
