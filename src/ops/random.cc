// RandomNormal, RandomUniform (and Like), Bernoulli, Multinomial. Element i depends on the seed and i alone.
#include "ops/random.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"
#include "ops/types.h"

namespace trine {

Philox random_stream(const Attrs& attrs) {
  if (const AttrValue* seed = attrs.find("seed")) {
    if (std::holds_alternative<int64_t>(*seed)) return Philox(static_cast<uint64_t>(std::get<int64_t>(*seed)));
    return Philox(std::bit_cast<uint64_t>(attrs.real("seed")));
  }
  static const auto start = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  static std::atomic<uint64_t> streams = 0;
  return Philox(start + 0x9E3779B97F4A7C15 * ++streams);
}

namespace {

using Draw = double (*)(const Philox& random, const Attrs& attrs, uint64_t i);

double draw_normal(const Philox& random, const Attrs& attrs, uint64_t i) {
  return attrs.real("mean", 0) + attrs.real("scale", 1) * random.normal(i);
}

double draw_uniform(const Philox& random, const Attrs& attrs, uint64_t i) {
  const double low = attrs.real("low", 0), high = attrs.real("high", 1);
  return low + (high - low) * random.uniform(i);
}

void fill(EvalContext& c, DType type, const Dims& dims, Draw draw) {
  const Philox random = random_stream(c.attrs());
  std::vector<double> y(value_count(dims));
  for (size_t i = 0; i < y.size(); ++i) y[i] = draw(random, c.attrs(), i);
  c.set(0, Tensor::from_f64(type, dims, y));
}

void need_float_result(InferContext& c, DType type) {
  if (type != DType::none && type_set(type) != kFloats)
    c.fail("dtype is " + std::string(name(type)) + "; accepted: f16, bf16, f32, f64");
}

void infer_shaped(InferContext& c) {
  const DType type = c.attrs().dtype("dtype", DType::f32);
  need_float_result(c, type);
  if (!c.attrs().has("shape")) c.fail("attribute `shape` is missing; it gives the output's dimensions");
  c.set(0, type, Shape::from(c.attrs().integers("shape")));
}

void infer_like(InferContext& c) {
  const DType type = c.attrs().dtype("dtype", c.dtype(0));
  need_float_result(c, type);
  c.set(0, type, c.shape(0));
}

DType shaped_type(EvalContext& c) { return c.attrs().dtype("dtype", DType::f32); }
DType like_type(EvalContext& c) { return c.attrs().dtype("dtype", c.tensor(0).dtype()); }

void reference_normal(EvalContext& c) { fill(c, shaped_type(c), c.attrs().integers("shape"), draw_normal); }
void reference_uniform(EvalContext& c) { fill(c, shaped_type(c), c.attrs().integers("shape"), draw_uniform); }
void reference_normal_like(EvalContext& c) { fill(c, like_type(c), c.tensor(0).dims(), draw_normal); }
void reference_uniform_like(EvalContext& c) { fill(c, like_type(c), c.tensor(0).dims(), draw_uniform); }

// 1 with probability x.
void infer_bernoulli(InferContext& c) {
  const DType type = c.attrs().dtype("dtype", c.dtype(0));
  if (type != DType::none && !(type_set(type) & (kNumbers | kBooleans)))
    c.fail("dtype is " + std::string(name(type)) + "; a number or bool is needed");
  c.set(0, type, c.shape(0));
}

void reference_bernoulli(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Philox random = random_stream(c.attrs());
  std::vector<double> y = x.f64_values();
  for (size_t i = 0; i < y.size(); ++i) y[i] = random.uniform(i) < y[i] ? 1 : 0;
  c.set(0, Tensor::from_f64(like_type(c), x.dims(), y));
}

// `sample_size` indices for each row of unnormalised log-probabilities.
void infer_multinomial(InferContext& c) {
  c.need_rank(0, 2);
  const int64_t samples = c.attrs().integer("sample_size", 1);
  if (samples < 0) c.fail("sample_size is " + std::to_string(samples) + "; it must not be negative");
  const DType type = c.attrs().dtype("dtype", DType::i32);
  if (type != DType::i32 && type != DType::i64) c.fail("dtype is " + std::string(name(type)) + "; accepted: i32, i64");
  c.set(0, type, Shape{c.shape(0).has_rank() ? c.shape(0)[0] : c.fresh(), Dim(samples)});
}

int64_t sample(const double* row, int64_t classes, double largest, double at) {
  double sum = 0;
  int64_t last = 0;
  for (int64_t k = 0; k < classes; ++k) {
    const double weight = std::exp(row[k] - largest);
    if (!(weight > 0)) continue;
    sum += weight;
    last = k;
    if (at < sum) break;
  }
  return last;
}

void reference_multinomial(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int64_t samples = c.attrs().integer("sample_size", 1);
  if (x.rank() != 2 || x.dim(1) < 1 || samples < 0) c.fail("x is " + x.type_text() + "; [batch, classes] is needed");
  const Dims dims = {x.dim(0), samples};
  const std::vector<double> logits = x.f64_values();
  const Philox random = random_stream(c.attrs());
  std::vector<int64_t> y;
  y.reserve(value_count(dims));
  for (int64_t b = 0; b < x.dim(0); ++b) {
    const double* const row = logits.data() + b * x.dim(1);
    const double largest = *std::max_element(row, row + x.dim(1));
    double total = 0;
    for (int64_t k = 0; k < x.dim(1); ++k) total += std::exp(row[k] - largest);
    for (int64_t s = 0; s < samples; ++s)
      y.push_back(sample(row, x.dim(1), largest, total * random.uniform(static_cast<uint64_t>(b * samples + s))));
  }
  c.set(0, Tensor::from_i64(c.attrs().dtype("dtype", DType::i32), dims, y));
}

const OpDef kOps[] = {
    {.name = "random_normal",
     .onnx = "RandomNormal",
     .doc = "normal numbers of a given shape",
     .min_inputs = 0,
     .max_inputs = 0,
     .infer = infer_shaped,
     .reference = reference_normal,
     .impure = true},
    {.name = "random_uniform",
     .onnx = "RandomUniform",
     .doc = "uniform numbers of a given shape",
     .min_inputs = 0,
     .max_inputs = 0,
     .infer = infer_shaped,
     .reference = reference_uniform,
     .impure = true},
    {.name = "random_normal_like",
     .onnx = "RandomNormalLike",
     .doc = "normal numbers of x's shape",
     .types = "a",
     .infer = infer_like,
     .reference = reference_normal_like,
     .impure = true},
    {.name = "random_uniform_like",
     .onnx = "RandomUniformLike",
     .doc = "uniform numbers of x's shape",
     .types = "a",
     .infer = infer_like,
     .reference = reference_uniform_like,
     .impure = true},
    {.name = "bernoulli",
     .onnx = "Bernoulli",
     .doc = "1 with probability x, else 0",
     .types = "f",
     .infer = infer_bernoulli,
     .reference = reference_bernoulli,
     .impure = true},
    {.name = "multinomial",
     .onnx = "Multinomial",
     .doc = "indices drawn with probability e^x",
     .types = "f",
     .infer = infer_multinomial,
     .reference = reference_multinomial,
     .impure = true},
};
const RegisterOp kRegistered[] = {RegisterOp(kOps[0]), RegisterOp(kOps[1]), RegisterOp(kOps[2]),
                                  RegisterOp(kOps[3]), RegisterOp(kOps[4]), RegisterOp(kOps[5])};

}  // namespace
}  // namespace trine
