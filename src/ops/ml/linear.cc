// LinearRegressor: y = x w' + b per target. LinearClassifier: such scores per class, and the label of the largest.
#include "base/checked.h"
#include "ops/ml/post_transform.h"

namespace trine::ml {
namespace {

// scores[n][e] = sum_f x[n][f] * w[e][f] + b[e]
std::vector<double> linear_scores(const EvalContext& c, const Rows& x, size_t classes) {
  const auto weights = c.attrs().reals("coefficients");
  const auto bias = c.attrs().reals("intercepts");
  if (classes == 0 || weights.size() != classes * static_cast<size_t>(x.features) ||
      (!bias.empty() && bias.size() != classes))
    c.fail(std::to_string(weights.size()) + " coefficients, " + std::to_string(bias.size()) + " intercepts for " +
           std::to_string(classes) + " targets of " + std::to_string(x.features) + " features");
  std::vector<double> scores;
  for (int64_t n = 0; n < x.count; ++n)
    for (size_t e = 0; e < classes; ++e) {
      double sum = bias.empty() ? 0 : bias[e];
      for (int64_t f = 0; f < x.features; ++f)
        sum += x.row(n)[f] * weights[e * static_cast<size_t>(x.features) + static_cast<size_t>(f)];
      scores.push_back(sum);
    }
  return scores;
}

size_t target_count(const Attrs& attrs) {
  const auto n = attrs.integer("targets", 1);
  return n > 0 && n < (1 << 30) ? static_cast<size_t>(n) : 0;
}

void infer_linear_regressor(InferContext& c) {
  c.set(0, DType::f32, {row_count(c), Dim(static_cast<int64_t>(target_count(c.attrs())))});
}

void linear_regressor_reference(EvalContext& c) {
  const Rows x(c, 0);
  const size_t targets = target_count(c.attrs());
  auto scores = linear_scores(c, x, targets);
  const PostTransform post = post_transform_from(c.attrs().string("post_transform", "NONE"));
  for (int64_t n = 0; n < x.count; ++n) apply(post, scores.data() + static_cast<size_t>(n) * targets, targets);
  c.set(0, Tensor::from_f64(DType::f32, {x.count, static_cast<int64_t>(targets)}, scores));
}

const OpDef kLinearRegressor = {.name = "linear_regressor",
                                .onnx = "ai.onnx.ml:LinearRegressor",
                                .doc = "y = post(x w' + b)",
                                .types = "fi",
                                .infer = infer_linear_regressor,
                                .reference = linear_regressor_reference};
const RegisterOp kRegisterLinearRegressor(kLinearRegressor);

Labels labels_of(const Attrs& attrs) { return Labels(attrs, "classlabels_ints", "classlabels_strings"); }

// Score columns that the coefficients hold: as many as intercepts, else as classes.
size_t score_count(const Attrs& attrs) {
  const size_t intercepts = attrs.reals("intercepts").size();
  return intercepts > 0 ? intercepts : std::max<size_t>(labels_of(attrs).count(), 1);
}

bool is_binary(const Attrs& attrs) { return score_count(attrs) == 1 && labels_of(attrs).count() == 2; }

void infer_linear_classifier(InferContext& c) {
  const Dim rows = row_count(c);
  c.set(0, labels_of(c.attrs()).dtype(), {rows});
  c.set(1, DType::f32, {rows, is_binary(c.attrs()) ? Dim(2) : Dim(static_cast<int64_t>(score_count(c.attrs())))});
}

// One score for two classes becomes (-s, s). One score for one class: that class when s > 0.
void linear_classifier_reference(EvalContext& c) {
  const Rows x(c, 0);
  const Labels labels = labels_of(c.attrs());
  const size_t given = score_count(c.attrs());
  const bool binary = is_binary(c.attrs());
  const auto raw = linear_scores(c, x, given);
  const PostTransform post = post_transform_from(c.attrs().string("post_transform", "NONE"));
  const size_t width = binary ? 2 : given;
  std::vector<double> scores;
  std::vector<int64_t> classes;
  for (size_t n = 0; n < static_cast<size_t>(x.count); ++n) {
    std::vector<double> row(raw.begin() + static_cast<std::ptrdiff_t>(n * given),
                            raw.begin() + static_cast<std::ptrdiff_t>((n + 1) * given));
    if (binary) row.insert(row.begin(), -row[0]);
    classes.push_back(width > 1 ? argmax(row.data(), width) : row[0] > 0 ? 0 : -1);
    apply(post, row.data(), width);
    scores.insert(scores.end(), row.begin(), row.end());
  }
  c.set(0, labels.of(classes));
  c.set(1, Tensor::from_f64(DType::f32, {x.count, static_cast<int64_t>(width)}, scores));
}

const OpDef kLinearClassifier = {.name = "linear_classifier",
                                 .onnx = "ai.onnx.ml:LinearClassifier",
                                 .doc = "label and scores post(x w' + b)",
                                 .types = "fi",
                                 .max_outputs = 2,
                                 .infer = infer_linear_classifier,
                                 .reference = linear_classifier_reference};
const RegisterOp kRegisterLinearClassifier(kLinearClassifier);

}  // namespace
}  // namespace trine::ml
