// Pieces shared by the classifiers and regressors of ai.onnx.ml.
#pragma once

#include "graph/eval.h"
#include "graph/infer.h"

namespace trine::ml {

enum class PostTransform { none, softmax, logistic, softmax_zero, probit };

PostTransform post_transform_from(std::string_view name);     // "NONE", "SOFTMAX", ...; throws Error{invalid_model}
void apply(PostTransform how, double* scores, size_t count);  // to one row of scores

// Class labels: integers or strings, whichever attribute is there. No labels: classes are numbered.
class Labels {
 public:
  Labels(const Attrs& attrs, std::string_view integers, std::string_view strings);
  size_t count() const { return std::max(integers_.size(), strings_.size()); }
  bool are_strings() const { return !strings_.empty(); }
  DType dtype() const { return are_strings() ? DType::string : DType::i64; }
  // The labels of `classes` as a vector; class -1 gives 0 or the empty string.
  Tensor of(const std::vector<int64_t>& classes) const;

 private:
  std::vector<int64_t> integers_;
  std::vector<std::string> strings_;
};

// Rows of features: [N, F], or [F] as one row.
struct Rows {
  int64_t count = 0, features = 0;
  std::vector<double> values;

  Rows(const EvalContext& c, int input);
  const double* row(int64_t i) const { return values.data() + i * features; }
};

// The number of rows of input 0, symbolic.
Dim row_count(InferContext& c);

// A list of numbers given as `name` (reals) or as a tensor `name`_as_tensor; empty when absent.
std::vector<double> numbers(const Attrs& attrs, const std::string& name);

int64_t argmax(const double* scores, size_t count);  // first of the largest

}  // namespace trine::ml
