// Operators that look values up: LabelEncoder, CategoryMapper, OneHotEncoder, ArrayFeatureExtractor.
#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/movement.h"
#include "ops/node_error.h"

namespace trine::ml {
namespace {

// Elements of a tensor as text keys: strings as they are; numbers by value, every NaN alike.
std::vector<std::string> keys_of(const Tensor& t) {
  if (t.dtype() == DType::string) return t.strings();
  std::vector<std::string> keys;
  if (is_float(t.dtype()))
    for (double v : t.f64_values())
      keys.push_back(std::isnan(v) ? "nan" : std::to_string(std::bit_cast<int64_t>(v == 0 ? 0.0 : v)));
  else
    for (int64_t v : t.i64_values()) keys.push_back(std::to_string(v));
  return keys;
}

// The list that one of the attributes <prefix>_strings, _int64s, _floats or _tensor holds.
template <class C>
Tensor list_attribute(const C& c, const std::string& prefix) {
  const Attrs& a = c.attrs();
  if (const Tensor* t = a.tensor(prefix + "_tensor")) return t->reshaped({t->elements()});
  if (a.has(prefix + "_strings")) {
    const auto values = a.strings(prefix + "_strings");
    return Tensor::of_strings({static_cast<int64_t>(values.size())}, values);
  }
  if (a.has(prefix + "_int64s")) return Tensor::vector_i64(a.integers(prefix + "_int64s"));
  if (a.has(prefix + "_floats")) {
    const auto values = a.reals(prefix + "_floats");
    return Tensor::from_f64(DType::f32, {static_cast<int64_t>(values.size())}, values);
  }
  c.fail("no " + prefix + "_strings, _int64s, _floats or _tensor; one must be given");
}

void infer_label_encoder(InferContext& c) { c.set(0, list_attribute(c, "values").dtype(), c.shape(0)); }

Tensor default_label(const EvalContext& c, DType dtype) {
  if (const Tensor* t = c.attrs().tensor("default_tensor")) {
    if (t->elements() != 1 || t->dtype() != dtype)
      c.fail("default_tensor is " + t->type_text() + "; one element of the values' type");
    return *t;
  }
  if (dtype == DType::string) return Tensor::of_strings({}, {c.attrs().string("default_string", "_Unused")});
  if (is_float(dtype)) return Tensor::from_f64(dtype, {}, {c.attrs().real("default_float", -0.0)});
  return Tensor::from_i64(dtype, {}, {c.attrs().integer("default_int64", -1)});
}

void label_encoder_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), keys = list_attribute(c, "keys"), values = list_attribute(c, "values");
  if (keys.elements() != values.elements())
    c.fail(std::to_string(keys.elements()) + " keys, " + std::to_string(values.elements()) +
           " values; as many of each");
  const bool same_kind =
      (x.dtype() == DType::string) == (keys.dtype() == DType::string) && is_float(x.dtype()) == is_float(keys.dtype());
  if (!same_kind) c.fail("x is " + x.type_text() + ", the keys " + keys.type_text() + "; element types must agree");
  std::unordered_map<std::string, int64_t> place;
  const auto names = keys_of(keys);
  for (size_t i = 0; i < names.size(); ++i) place[names[i]] = static_cast<int64_t>(i);  // the last of equal keys counts
  const Tensor otherwise = default_label(c, values.dtype());
  TensorBuilder y(values.dtype(), x.dims());
  const auto wanted = keys_of(x);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = place.find(wanted[i]);
    if (found == place.end()) y.copy(static_cast<int64_t>(i), otherwise, 0);
    else y.copy(static_cast<int64_t>(i), values, found->second);
  }
  c.set(0, y.take());
}

const OpDef kLabelEncoder = {.name = "label_encoder",
                             .onnx = "ai.onnx.ml:LabelEncoder",
                             .doc = "y = values[position of x in keys], or the default",
                             .types = "fis",
                             .infer = infer_label_encoder,
                             .reference = label_encoder_reference};
const RegisterOp kRegisterLabelEncoder(kLabelEncoder);

void infer_category_mapper(InferContext& c) {
  c.set(0, c.dtype(0) == DType::string ? DType::i64 : DType::string, c.shape(0));
}

void category_mapper_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto numbers = c.attrs().integers("cats_int64s");
  const auto names = c.attrs().strings("cats_strings");
  if (numbers.size() != names.size())
    c.fail(std::to_string(numbers.size()) + " cats_int64s, " + std::to_string(names.size()) +
           " cats_strings; as many of each");
  if (x.dtype() == DType::string) {
    std::unordered_map<std::string, int64_t> to;
    for (size_t i = 0; i < names.size(); ++i) to[names[i]] = numbers[i];
    std::vector<int64_t> y;
    for (const std::string& s : x.strings()) {
      const auto found = to.find(s);
      y.push_back(found == to.end() ? c.attrs().integer("default_int64", -1) : found->second);
    }
    return c.set(0, Tensor::from_i64(DType::i64, x.dims(), y));
  }
  std::unordered_map<int64_t, std::string> to;
  for (size_t i = 0; i < names.size(); ++i) to[numbers[i]] = names[i];
  std::vector<std::string> y;
  for (int64_t v : x.i64_values()) {
    const auto found = to.find(v);
    y.push_back(found == to.end() ? c.attrs().string("default_string", "_Unused") : found->second);
  }
  c.set(0, Tensor::of_strings(x.dims(), std::move(y)));
}

const OpDef kCategoryMapper = {.name = "category_mapper",
                               .onnx = "ai.onnx.ml:CategoryMapper",
                               .doc = "strings to integers, or back",
                               .types = "is",
                               .infer = infer_category_mapper,
                               .reference = category_mapper_reference};
const RegisterOp kRegisterCategoryMapper(kCategoryMapper);

size_t category_count(const Attrs& a) {
  return std::max(a.integers("cats_int64s").size(), a.strings("cats_strings").size());
}

void infer_one_hot_encoder(InferContext& c) {
  if (!c.shape(0).has_rank()) return c.set(0, DType::f32, Shape());
  std::vector<Dim> dims = c.shape(0).dims();
  dims.push_back(static_cast<int64_t>(category_count(c.attrs())));
  c.set(0, DType::f32, Shape(std::move(dims)));
}

void one_hot_encoder_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const bool strings = x.dtype() == DType::string;
  const auto names = c.attrs().strings("cats_strings");
  const Tensor categories = strings ? Tensor::of_strings({static_cast<int64_t>(names.size())}, names)
                                    : Tensor::vector_i64(c.attrs().integers("cats_int64s"));
  std::unordered_map<std::string, int64_t> place;
  for (const std::string& key : keys_of(categories)) place.emplace(key, static_cast<int64_t>(place.size()));
  const auto count = static_cast<int64_t>(category_count(c.attrs()));
  Dims dims = x.dims();
  dims.push_back(count);
  std::vector<double> y(value_count(dims), 0);
  const auto wanted = keys_of(strings ? x : Tensor::from_i64(DType::i64, x.dims(), x.i64_values()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = place.find(wanted[i]);
    if (found != place.end()) y[i * static_cast<size_t>(count) + static_cast<size_t>(found->second)] = 1;
    else if (!c.attrs().integer("zeros", 1))
      c.fail("element " + std::to_string(i) + " is of no category, and zeros = 0");
  }
  c.set(0, Tensor::from_f64(DType::f32, dims, y));
}

const OpDef kOneHotEncoder = {.name = "one_hot_encoder",
                              .onnx = "ai.onnx.ml:OneHotEncoder",
                              .doc = "y[..., k] = x[...] == category k",
                              .types = "fis",
                              .infer = infer_one_hot_encoder,
                              .reference = one_hot_encoder_reference};
const RegisterOp kRegisterOneHotEncoder(kOneHotEncoder);

void infer_array_feature_extractor(InferContext& c) {
  c.need_rank_at_least(0, 1);
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  std::vector<Dim> dims(x.dims().begin(), x.dims().end() - 1);
  if (dims.empty()) dims.push_back(1);
  dims.push_back(c.shape(1).has_rank() ? c.shape(1).elements() : c.fresh());
  c.set(0, c.dtype(0), Shape(std::move(dims)));
}

void array_feature_extractor_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (x.rank() == 0) c.fail("x is a scalar; its rank must be at least 1");
  const auto at = c.tensor(1).i64_values();
  const int64_t features = x.dim(x.rank() - 1), picked = static_cast<int64_t>(at.size());
  for (int64_t i : at)
    if (i < 0 || i >= features)
      c.fail("index " + std::to_string(i) + " outside [0, " + std::to_string(features - 1) + "]");
  Dims dims(x.dims().begin(), x.dims().end() - 1);
  if (dims.empty()) dims.push_back(1);
  dims.push_back(picked);
  TensorBuilder y(x.dtype(), dims);
  const int64_t rows = features == 0 ? 0 : x.elements() / features;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < picked; ++k) y.copy(r * picked + k, x, r * features + at[static_cast<size_t>(k)]);
  c.set(0, y.take());
}

const OpDef kArrayFeatureExtractor = {.name = "array_feature_extractor",
                                      .onnx = "ai.onnx.ml:ArrayFeatureExtractor",
                                      .doc = "y[..., k] = x[..., indices[k]]",
                                      .types = "fis x",
                                      .min_inputs = 2,
                                      .max_inputs = 2,
                                      .infer = infer_array_feature_extractor,
                                      .reference = array_feature_extractor_reference};
const RegisterOp kRegisterArrayFeatureExtractor(kArrayFeatureExtractor);

}  // namespace
}  // namespace trine::ml
