#include "engine/build/compare.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/float_formats.h"
#include "ops/activation.h"

namespace trine {

// Of the noise that one unit in the last place everywhere makes: kernels add in another order and round more often.
constexpr double kNoise = 16;

Difference compare_all(const Tensor& got, const Tensor& want, double factor, double noise) {
  Difference d;
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    d.ok = false;
    d.worst = HUGE_VAL;
    return d;
  }
  if (got.dtype() == DType::string) {
    d.ok = got.strings() == want.strings();
    return d;
  }
  if (is_complex(got.dtype())) return d;
  const std::vector<double> x = got.f64_values(), y = want.f64_values();
  double largest = 0;
  for (double v : y)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  const bool real = is_float(want.dtype());
  const double eps = want.dtype() == DType::f64 ? 0x1p-40 : byte_size(want.dtype()) == 4 ? 0x1p-16 : 0x1p-6;
  d.allowed = real ? factor * (eps * std::max(largest, 1e-3) + kNoise * noise) : want.dtype() == DType::boolean ? 0 : 1;
  size_t off_by_one = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double error = std::fabs(x[i] - y[i]);
    if (!(error <= d.allowed)) d.ok = false;
    if (!(error <= d.worst)) d.worst = std::isnan(error) ? HUGE_VAL : error;
    if (!real) ++off_by_one;
  }
  if (off_by_one > x.size() / 100 + 1) d.ok = false;
  return d;
}

namespace {

constexpr int kSamples = 96;

struct Sum {
  double value = 0, magnitude = 0;
  int64_t terms = 0;
  void add(double a, double b) {
    value += a * b;
    magnitude += std::fabs(a * b);
    ++terms;
  }
};

// A tensor of f32, f16 or bf16, or none.
struct Values {
  const Tensor* tensor;

  Values(const std::vector<Datum>& inputs, int i)
      : tensor(i >= 0 && inputs[static_cast<size_t>(i)].is_tensor() ? &inputs[static_cast<size_t>(i)].tensor()
                                                                    : nullptr) {}
  explicit Values(const Tensor& t) : tensor(&t) {}
  double operator[](int64_t i) const {
    if (!tensor) return 0;
    if (tensor->dtype() == DType::f32) return static_cast<double>(tensor->as<float>()[i]);
    return small_float_value(tensor->dtype(), tensor->as<uint16_t>()[i]);
  }
};

// Of a result of this type, relative to it.
double rounding_error(DType type) { return type == DType::bf16 ? 0x1p-8 : type == DType::f16 ? 0x1p-11 : 0; }

// What the node says follows the sum: not what the kernel call made of it.
struct NodeEpilogue {
  Activation activation;
  bool residual_last;
  explicit NodeEpilogue(const Node& node)
      : activation(activation_of(node)), residual_last(node.attrs.integer("residual", 1) == 2) {}
};

// What is allowed beside the rounding errors of a sum of products: so many times those, and a share of its magnitude.
struct Slack {
  double times, share = 0;
};

// Products of sums round otherwise than sums of products; sums rounded to bf16 err by 2^-8 of themselves, products of
// factors in tf32 by 2^-10.
Slack slack_of(const Call& call) {
  if (!call.row) return {1.0, call.device && call.device->tf32() ? 0x1p-10 : 0};
  const dnn::Numerics numerics = call.row->numerics;
  return {numerics == dnn::Numerics::exact ? 1.0 : 64.0, numerics == dnn::Numerics::winograd_bf16 ? 0x1p-6 : 0};
}

void judge(Difference& d, const NodeEpilogue& epilogue, Sum sum, double bias, double residual, const Tensor& result,
           int64_t i, Slack slack) {
  const double v = sum.value + bias + (epilogue.residual_last ? 0 : residual), got = Values(result)[i];
  const double y = apply(epilogue.activation, v) + (epilogue.residual_last ? residual : 0);
  if (got == y || (std::isnan(got) && std::isnan(y))) return;  // infinities, of masks
  // Every activation's slope is below 1.2; the last term is what its own approximation may add.
  const double bound =
      1.2 * slack.times * (static_cast<double>(sum.terms) + 8) * 0x1p-24 * (sum.magnitude + std::fabs(v)) +
      1.2 * slack.share * sum.magnitude +
      slack.times * (1e-6 * std::max(1.0, std::fabs(y)) + rounding_error(result.dtype()) * std::fabs(y));
  const double error = std::fabs(got - y);
  if (error <= d.worst) return;  // not when it is NaN
  d.worst = error;
  d.allowed = bound;
  if (!(error <= bound)) d.ok = false;
}

// Of an input [N,spatial...,C], as nodes have it: a kernel that reads planes is shown that too.
Sum conv_sum(const dnn::ConvProblem& p, const Values& x, const Values& w, int64_t n, const dnn::Extents& at,
             int64_t m) {
  Sum sum;
  const int64_t per_group = p.in_per_group(), first = m / p.out_per_group() * per_group;
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  for (int64_t t = 0; t < taps; ++t) {
    const dnn::Extents tap{t / (p.kernel[1] * p.kernel[2]), t / p.kernel[2] % p.kernel[1], t % p.kernel[2]};
    dnn::Extents in;
    bool inside = true;
    for (size_t i = 0; i < 3; ++i) {
      in[i] = at[i] * p.stride[i] + tap[i] * p.dilation[i] - p.pad_begin[i];
      inside = inside && in[i] >= 0 && in[i] < p.in[i];
    }
    if (!inside) continue;
    const int64_t pixel = ((n * p.in[0] + in[0]) * p.in[1] + in[1]) * p.in[2] + in[2];
    for (int64_t c = 0; c < per_group; ++c)
      sum.add(x[pixel * p.in_channels + first + c], w[(m * per_group + c) * taps + t]);
  }
  return sum;
}

Difference sample_conv(const Node& node, const dnn::ConvProblem& p, const Call& call, const std::vector<Datum>& inputs,
                       const Tensor& got, double factor) {
  Difference d;
  d.sampled = true;
  const NodeEpilogue epilogue(node);
  const Values x(inputs, call.what.in[0]), w(inputs, call.what.weights[0]);
  const Values bias(inputs, call.what.bias), residual(inputs, call.what.residual);
  Slack slack = slack_of(call);
  slack.times *= factor, slack.share *= factor;
  std::mt19937_64 random(1);
  const int64_t count = got.elements();
  for (int s = 0; s < kSamples; ++s) {
    const int64_t i = s == 0 ? 0 : s == 1 ? count - 1 : static_cast<int64_t>(random() % static_cast<uint64_t>(count));
    const int64_t m = i % p.out_channels, pixel = i / p.out_channels;
    const dnn::Extents at{pixel / (p.out[1] * p.out[2]) % p.out[0], pixel / p.out[2] % p.out[1], pixel % p.out[2]};
    const int64_t n = pixel / (p.out[0] * p.out[1] * p.out[2]);
    judge(d, epilogue, conv_sum(p, x, w, n, at, m), bias[m], residual[i], got, i, slack);
  }
  return d;
}

Difference sample_matmul(const Node& node, const dnn::MatmulProblem& p, const Call& call,
                         const std::vector<Datum>& inputs, const Tensor& got, double factor) {
  Difference d;
  d.sampled = true;
  const NodeEpilogue epilogue(node);
  const Values a(inputs, call.what.in[0]), b(inputs, p.b_constant ? call.what.weights[0] : call.what.in[1]);
  const Values bias(inputs, call.what.bias), residual(inputs, call.what.residual);
  std::mt19937_64 random(1);
  const int64_t count = got.elements();
  for (int s = 0; s < kSamples; ++s) {
    const int64_t i = s == 0 ? 0 : s == 1 ? count - 1 : static_cast<int64_t>(random() % static_cast<uint64_t>(count));
    const int64_t col = i % p.n, row = i / p.n % p.m, batch = i / p.n / p.m;
    const int64_t a_at = (p.a_batch.empty() ? 0 : batch) * p.m * p.k,
                  b_at = (p.b_batch.empty() ? 0 : batch) * p.k * p.n;
    Sum sum;
    for (int64_t k = 0; k < p.k; ++k)
      sum.add(static_cast<double>(p.alpha) * a[a_at + (p.trans_a ? k * p.m + row : row * p.k + k)],
              b[b_at + (p.trans_b ? col * p.k + k : k * p.n + col)]);
    judge(d, epilogue, sum, bias[col], residual[i], got, i, {factor});
  }
  return d;
}

}  // namespace

std::optional<Difference> compare_sampled(const Node& node, const Call& call, const std::vector<Datum>& inputs,
                                          const Tensor& got, double factor) {
  if (call.kind != Call::Kind::kernel || got.elements() == 0) return std::nullopt;
  if (const auto* conv = std::get_if<dnn::ConvProblem>(&call.what.problem))
    return conv->transposed ? std::nullopt : std::optional(sample_conv(node, *conv, call, inputs, got, factor));
  if (const auto* matmul = std::get_if<dnn::MatmulProblem>(&call.what.problem)) {
    const bool plain = (matmul->a_batch.empty() || matmul->b_batch.empty() || matmul->a_batch == matmul->b_batch) &&
                       (!matmul->a_batch.empty() || matmul->b_batch.empty() || got.rank() == 3);
    return plain ? std::optional(sample_matmul(node, *matmul, call, inputs, got, factor)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trine
