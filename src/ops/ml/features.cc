// Feature preparation: Binarizer, Scaler, Normalizer, Imputer, FeatureVectorizer.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.h"
#include "codegen/lower.h"
#include "ops/ml/post_transform.h"
#include "ops/node_error.h"
#include "ops/types.h"

namespace trine::ml {
namespace {

void infer_binarizer(InferContext& c) { c.set(0, c.dtype(0), c.shape(0)); }

void binarizer_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  auto values = x.f64_values();
  const double threshold = c.attrs().real("threshold");
  for (double& v : values) v = v > threshold;
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), values));
}

codegen::Scalar binarizer_lower(codegen::LowerContext& c) {
  const auto x = c.load(0);
  return c.cast(c.apply(codegen::ScalarOp::less, c.like(x, c.attrs().real("threshold")), x), c.output_type().dtype);
}

const OpDef kBinarizer = {.name = "binarizer",
                          .onnx = "ai.onnx.ml:Binarizer",
                          .doc = "y = x > threshold",
                          .types = "fi",
                          .infer = infer_binarizer,
                          .reference = binarizer_reference,
                          .lower = binarizer_lower,
                          .elementwise = true};
const RegisterOp kRegisterBinarizer(kBinarizer);

void infer_f32(InferContext& c) { c.set(0, DType::f32, c.shape(0)); }

// The last axis is the feature axis; a list of one entry holds for all features.
double of_feature(const EvalContext& c, const std::vector<double>& list, size_t i, double otherwise) {
  if (list.empty()) return otherwise;
  if (list.size() == 1) return list[0];
  const Tensor& x = c.tensor(0);
  const auto features = static_cast<size_t>(x.rank() == 0 ? 1 : x.dim(x.rank() - 1));
  if (list.size() != features)
    c.fail("an attribute has " + std::to_string(list.size()) + " entries for " + x.type_text() +
           "; 1 or one per feature");
  return list[i % features];
}

void scaler_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto scale = c.attrs().reals("scale"), offset = c.attrs().reals("offset");
  auto values = x.f64_values();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (values[i] - of_feature(c, offset, i, 0)) * of_feature(c, scale, i, 1);
  c.set(0, Tensor::from_f64(DType::f32, x.dims(), values));
}

const OpDef kScaler = {.name = "scaler",
                       .onnx = "ai.onnx.ml:Scaler",
                       .doc = "y = (x - offset) * scale, per feature",
                       .types = "fi",
                       .infer = infer_f32,
                       .reference = scaler_reference};
const RegisterOp kRegisterScaler(kScaler);

// MAX divides by the largest element, L1 by the sum of absolute values, L2 by the root of the sum of squares.
double row_norm(const EvalContext& c, const std::string& norm, const double* row, int64_t n) {
  if (norm == "MAX") return *std::max_element(row, row + n);
  if (norm == "L1") return std::accumulate(row, row + n, 0.0, [](double sum, double v) { return sum + std::fabs(v); });
  if (norm == "L2") return std::sqrt(std::inner_product(row, row + n, row, 0.0));
  c.fail("norm '" + norm + "'; one of MAX, L1, L2");
}

void normalizer_reference(EvalContext& c) {
  Rows x(c, 0);
  const std::string norm = c.attrs().string("norm", "MAX");
  for (int64_t n = 0; n < x.count && x.features > 0; ++n) {
    const double by = row_norm(c, norm, x.row(n), x.features);
    if (by == 0) continue;
    for (int64_t f = 0; f < x.features; ++f) x.values[static_cast<size_t>(n * x.features + f)] /= by;
  }
  c.set(0, Tensor::from_f64(DType::f32, c.tensor(0).dims(), x.values));
}

const OpDef kNormalizer = {.name = "normalizer",
                           .onnx = "ai.onnx.ml:Normalizer",
                           .doc = "each row divided by its norm (by nothing where that is 0)",
                           .types = "fi",
                           .infer = infer_f32,
                           .reference = normalizer_reference};
const RegisterOp kRegisterNormalizer(kNormalizer);

void imputer_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto reals = c.attrs().reals("imputed_value_floats");
  if (is_float(x.dtype())) {
    const double replaced = c.attrs().real("replaced_value_float");
    auto values = x.f64_values();
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] == replaced || (std::isnan(replaced) && std::isnan(values[i])))
        values[i] = of_feature(c, reals, i, values[i]);
    return c.set(0, Tensor::from_f64(x.dtype(), x.dims(), values));
  }
  const auto integers = c.attrs().integers("imputed_value_int64s");
  const int64_t replaced = c.attrs().integer("replaced_value_int64");
  const auto features = static_cast<size_t>(x.rank() == 0 ? 1 : x.dim(x.rank() - 1));
  if (integers.size() > 1 && integers.size() != features)
    c.fail(std::to_string(integers.size()) + " imputed values for " + x.type_text() + "; 1 or one per feature");
  auto values = x.i64_values();
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == replaced && !integers.empty()) values[i] = integers[integers.size() == 1 ? 0 : i % features];
  c.set(0, Tensor::from_i64(x.dtype(), x.dims(), values));
}

const OpDef kImputer = {.name = "imputer",
                        .onnx = "ai.onnx.ml:Imputer",
                        .doc = "y = x == replaced ? imputed : x, per feature",
                        .types = "fi",
                        .infer = infer_same_as_first,
                        .reference = imputer_reference};
const RegisterOp kRegisterImputer(kImputer);

void infer_feature_vectorizer(InferContext& c) {
  Dim width = 0;
  for (int64_t n : c.attrs().integers("inputdimensions")) width = width + Dim(n);
  c.set(0, DType::f32, {row_count(c), width});
}

// Each input is cut or padded with zeros to its declared width.
void feature_vectorizer_reference(EvalContext& c) {
  const auto widths = c.attrs().integers("inputdimensions");
  if (static_cast<int>(widths.size()) != c.input_count())
    c.fail(std::to_string(widths.size()) + " inputdimensions for " + std::to_string(c.input_count()) + " inputs");
  std::vector<Rows> inputs;
  int64_t total = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    inputs.emplace_back(c, i);
    if (inputs.back().count != inputs[0].count) c.fail("inputs have unequal numbers of rows");
    if (widths[static_cast<size_t>(i)] < 0) c.fail("an input dimension is negative");
    total = checked_add(total, widths[static_cast<size_t>(i)]);
  }
  std::vector<double> y(value_count(Dims{inputs[0].count, total}), 0);
  for (int64_t n = 0; n < inputs[0].count; ++n) {
    int64_t at = n * total;
    for (size_t i = 0; i < inputs.size(); at += widths[i], ++i)
      std::copy_n(inputs[i].row(n), std::min(inputs[i].features, widths[i]), y.begin() + at);
  }
  c.set(0, Tensor::from_f64(DType::f32, {inputs[0].count, total}, y));
}

const OpDef kFeatureVectorizer = {.name = "feature_vectorizer",
                                  .onnx = "ai.onnx.ml:FeatureVectorizer",
                                  .doc = "the inputs' features side by side",
                                  .types = "Tfi ...",
                                  .min_inputs = 1,
                                  .max_inputs = -1,
                                  .infer = infer_feature_vectorizer,
                                  .reference = feature_vectorizer_reference};
const RegisterOp kRegisterFeatureVectorizer(kFeatureVectorizer);

}  // namespace
}  // namespace trine::ml
