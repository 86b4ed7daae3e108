// Shape: the dimensions of a tensor, or "unknown rank". Type: what a graph value may hold.
#pragma once

#include <memory>
#include <span>

#include "trine/base/dim.h"
#include "trine/base/dtype.h"

namespace trine {

constexpr int kMaxRank = 16;
constexpr int64_t kMaxElements = int64_t{1} << 47;

// Concrete dimensions, as a tensor in memory has them.
using Dims = std::vector<int64_t>;

// Product of `dims`; throws Error{invalid_model} for a negative dimension or a product past kMaxElements.
int64_t element_count(std::span<const int64_t> dims);
std::string to_string(std::span<const int64_t> dims);  // "2,3"

class Shape {
 public:
  Shape() : known_(false) {}                                              // unknown rank
  Shape(std::vector<Dim> dims) : dims_(std::move(dims)), known_(true) {}  // NOLINT
  Shape(std::initializer_list<Dim> dims) : dims_(dims), known_(true) {}
  static Shape from(std::span<const int64_t> dims);

  bool has_rank() const { return known_; }
  int rank() const { return static_cast<int>(dims_.size()); }  // of a known rank
  const std::vector<Dim>& dims() const { return dims_; }
  const Dim& operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  Dim& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  bool is_static() const;    // rank and every dimension known
  Dims static_dims() const;  // of a static shape
  std::optional<Dims> evaluate(const Bindings& bindings) const;
  Dim elements() const;      // product of a known rank's dimensions
  std::string text() const;  // "N,3,224,224"; "*" for unknown rank

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Dim> dims_;
  bool known_;
};

// Tensor, sequence of a type, optional of a type, or none (an absent optional input).
struct Type {
  enum class Kind : uint8_t { none, tensor, sequence, optional };
  Kind kind = Kind::none;
  DType dtype = DType::none;            // of a tensor; none = not known yet
  Shape shape;                          // of a tensor
  std::shared_ptr<const Type> element;  // of a sequence or optional; may be null: not known yet

  static Type tensor(DType dtype, Shape shape) { return {Kind::tensor, dtype, std::move(shape), nullptr}; }
  static Type sequence(Type element);
  static Type optional(Type element);
  bool is_tensor() const { return kind == Kind::tensor; }
  std::string text() const;  // "f32[N,128]", "seq(f32[*])", "opt(i64[])"
  static Type parse(std::string_view text);
  friend bool operator==(const Type& a, const Type& b);
};

}  // namespace trine
