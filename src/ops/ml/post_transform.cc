#include "ops/ml/post_transform.h"

#include <algorithm>
#include <cmath>

#include "trine/base/error.h"

namespace trine::ml {
namespace {

double logistic(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

// Winitzki's approximation (2008), which the operators' other implementations use too.
double erf_inverse(double x) {
  const double product = (1 - x) * (1 + x);
  if (product == 0) return 0;
  const double log = std::log(product), a = 2 / (3.14159265358979323846 * 0.147) + 0.5 * log;
  return std::copysign(std::sqrt(std::sqrt(a * a - log / 0.147) - a), x);
}

void softmax(double* s, size_t count, bool keep_zero) {
  const double top = *std::max_element(s, s + count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool zero = keep_zero && std::fabs(s[i]) <= 1e-7;
    s[i] = zero ? s[i] * std::exp(-top) : std::exp(s[i] - top);
    sum += s[i];
  }
  for (size_t i = 0; i < count; ++i) s[i] = sum == 0 ? 0.5 : s[i] / sum;
}

}  // namespace

PostTransform post_transform_from(std::string_view name) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (int i = 0; i < 5; ++i)
    if (name == kNames[i]) return static_cast<PostTransform>(i);
  throw Error(ErrorCode::invalid_model,
              "post_transform '" + std::string(name) + "'; one of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT");
}

void apply(PostTransform how, double* scores, size_t count) {
  if (count == 0 || how == PostTransform::none) return;
  if (how == PostTransform::softmax || how == PostTransform::softmax_zero)
    return softmax(scores, count, how == PostTransform::softmax_zero);
  for (size_t i = 0; i < count; ++i)
    scores[i] = how == PostTransform::logistic ? logistic(scores[i]) : 1.41421356 * erf_inverse(2 * scores[i] - 1);
}

Labels::Labels(const Attrs& attrs, std::string_view integers, std::string_view strings)
    : integers_(attrs.integers(integers)), strings_(attrs.strings(strings)) {}

Tensor Labels::of(const std::vector<int64_t>& classes) const {
  const Dims dims{static_cast<int64_t>(classes.size())};
  if (are_strings()) {
    std::vector<std::string> result;
    for (int64_t k : classes)
      result.push_back(k >= 0 && k < static_cast<int64_t>(strings_.size()) ? strings_[static_cast<size_t>(k)] : "");
    return Tensor::of_strings(dims, std::move(result));
  }
  std::vector<int64_t> result;
  for (int64_t k : classes)
    result.push_back(integers_.empty()                                      ? std::max<int64_t>(k, 0)
                     : k >= 0 && k < static_cast<int64_t>(integers_.size()) ? integers_[static_cast<size_t>(k)]
                                                                            : 0);
  return Tensor::from_i64(DType::i64, dims, result);
}

Rows::Rows(const EvalContext& c, int input) {
  const Tensor& x = c.tensor(input);
  if (x.rank() != 1 && x.rank() != 2) c.fail("x is " + x.type_text() + "; it must be [N,F] or [F]");
  count = x.rank() == 2 ? x.dim(0) : 1;
  features = x.dim(x.rank() - 1);
  values = x.f64_values();
}

Dim row_count(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.fresh("rows");
  if (x.rank() != 1 && x.rank() != 2) c.fail("x is " + c.input(0).text() + "; it must be [N,F] or [F]");
  return x.rank() == 2 ? x[0] : Dim(1);
}

std::vector<double> numbers(const Attrs& attrs, const std::string& name) {
  if (const Tensor* t = attrs.tensor(name + "_as_tensor")) return t->f64_values();
  return attrs.reals(name);
}

int64_t argmax(const double* scores, size_t count) { return std::max_element(scores, scores + count) - scores; }

}  // namespace trine::ml
