// Tensor: a dense row-major array in host memory. Datum: what a graph value holds at run time.
//
// A Tensor is a cheap handle: copies share the bytes. Whoever fills a fresh tensor owns it alone; once handed on it is
// read only. Strings live in a vector<string>, sub-byte types take one byte an element.
#pragma once

#include <complex>
#include <string>
#include <variant>

#include "trine/base/shape.h"

namespace trine {

class Tensor {
 public:
  Tensor() = default;  // dtype none, no data
  // Uninitialised memory, 64-byte aligned. Throws Error{out_of_memory}.
  Tensor(DType dtype, Dims dims);
  // Wraps memory that `owner` keeps alive (a mapped file, a caller's buffer).
  Tensor(DType dtype, Dims dims, const void* data, std::shared_ptr<const void> owner);
  // These throw Error{invalid_argument} unless there is one value for each element; T is the type in memory, as wide as
  // the dtype.
  static Tensor of_strings(Dims dims, std::vector<std::string> values);
  template <class T>
  static Tensor of(DType dtype, Dims dims, const std::vector<T>& values);
  static Tensor scalar_f32(float value);
  static Tensor scalar_i64(int64_t value);
  static Tensor vector_i64(const std::vector<int64_t>& values);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const;  // Error{invalid_argument} unless 0 <= i < rank()
  int64_t elements() const { return elements_; }
  size_t bytes() const { return static_cast<size_t>(elements_) * byte_size(dtype_); }
  bool defined() const { return dtype_ != DType::none; }
  // The bytes live as long as the handle does; else somebody else lends them.
  bool owned() const { return owner_ != nullptr || strings_ != nullptr; }
  // No other handle shares the bytes.
  bool unique() const { return owner_.use_count() == 1; }

  const void* data() const { return data_; }
  void* mutable_data() { return const_cast<void*>(data_); }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_as() {
    return static_cast<T*>(mutable_data());
  }
  const std::vector<std::string>& strings() const;  // Error{invalid_argument} of another dtype

  // The same elements under other dimensions of equal product; Error{invalid_argument} when the product differs.
  Tensor reshaped(Dims dims) const;
  Tensor clone() const;

  // Whole-tensor conversions, the way references read and write any dtype. Integers keep all 64 bits through i64 (u64
  // as its bit pattern). from_f64 rounds half to even; to an integer type it truncates and saturates; to boolean it is
  // `!= 0`. from_i64 wraps to narrower integers. i64_values of a float tensor truncates. Error{invalid_argument} for
  // strings, complex numbers, and a number of values other than the number of elements.
  std::vector<double> f64_values() const;
  std::vector<int64_t> i64_values() const;
  static Tensor from_f64(DType dtype, Dims dims, const std::vector<double>& values);
  static Tensor from_i64(DType dtype, Dims dims, const std::vector<int64_t>& values);

  std::string type_text() const;  // "f32[2,3]"

 private:
  void check_values(size_t count, size_t value_bytes) const;

  DType dtype_ = DType::none;
  Dims dims_;
  int64_t elements_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

template <class T>
Tensor Tensor::of(DType dtype, Dims dims, const std::vector<T>& values) {
  Tensor t(dtype, std::move(dims));
  t.check_values(values.size(), sizeof(T));
  std::copy(values.begin(), values.end(), t.mutable_as<T>());
  return t;
}

// A tensor, a sequence, or nothing (an empty optional, an absent input).
struct Datum {
  using Sequence = std::vector<Datum>;
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>> value;
  Type sequence_type;  // of an empty sequence: what it would hold

  Datum() = default;
  Datum(Tensor t) : value(std::move(t)) {}  // NOLINT
  static Datum sequence(Sequence items);
  bool is_none() const { return value.index() == 0; }
  bool is_tensor() const { return value.index() == 1; }
  bool is_sequence() const { return value.index() == 2; }
  const Tensor& tensor() const;   // Error{invalid_argument} of another kind
  const Sequence& items() const;  // likewise
};

}  // namespace trine
