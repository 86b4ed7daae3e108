#include "ops/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/node_error.h"

namespace trine {
namespace {

using Kind = Activation::Kind;
constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr ActivationRow kRows[] = {
    {Kind::identity, "identity", 0, 0, 0},
    {Kind::relu, "relu", 0, 0, 0},
    {Kind::clip, "clip", 2, -kInf, kInf},
    {Kind::sigmoid, "sigmoid", 0, 0, 0},
    {Kind::tanh, "tanh", 0, 0, 0},
    {Kind::silu, "silu", 1, 1, 0},  // x * sigmoid(alpha * x)
    {Kind::hard_sigmoid, "hard_sigmoid", 2, 0.2, 0.5},
    {Kind::hard_swish, "hard_swish", 0, 0, 0},
    {Kind::gelu, "gelu", 0, 0, 0},
    {Kind::gelu_tanh, "gelu_tanh", 0, 0, 0},
    {Kind::leaky_relu, "leaky_relu", 1, 0.01, 0},
    {Kind::elu, "elu", 1, 1, 0},
    {Kind::softplus, "softplus", 0, 0, 0},
    {Kind::softsign, "softsign", 0, 0, 0},
    {Kind::mish, "mish", 0, 0, 0},
    {Kind::affine, "affine", 2, 1, 0},
    {Kind::scaled_tanh, "scaled_tanh", 2, 1, 1},
    {Kind::thresholded_relu, "thresholded_relu", 1, 1, 0},
};

std::string without_case(std::string_view name) {
  std::string plain;
  for (char ch : name)
    if (ch != '_') plain += static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
  return plain;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }  // NaN stays NaN

}  // namespace

const ActivationRow* find_activation(std::string_view name) {
  const std::string plain = without_case(name);
  for (const ActivationRow& row : kRows)
    if (without_case(row.name) == plain) return &row;
  return nullptr;
}

const ActivationRow& activation_row(Kind kind) { return kRows[static_cast<size_t>(kind)]; }

Activation activation_of(const Node& node) {
  const std::string name = node.attrs.string("activation", "identity");
  const ActivationRow* row = find_activation(name.empty() ? "identity" : name);
  if (!row) fail(node, fmt::format("activation '{}' is not known", name));
  const auto params =
      node.attrs.find("activation_params") ? node.attrs.reals("activation_params") : std::vector<double>{};
  return {row->kind, node.attrs.real("activation_alpha", params.size() > 0 ? params[0] : row->alpha),
          node.attrs.real("activation_beta", params.size() > 1 ? params[1] : row->beta)};
}

void set_activation(Attrs& attrs, const Activation& activation) {
  const ActivationRow& row = activation_row(activation.kind);
  attrs.set("activation", std::string(row.name));
  if (row.parameters >= 1) attrs.set("activation_alpha", activation.alpha);
  if (row.parameters >= 2) attrs.set("activation_beta", activation.beta);
}

double apply(const Activation& f, double x) {
  switch (f.kind) {
    case Kind::identity: return x;
    case Kind::relu: return x < 0 ? 0 : x;
    case Kind::clip: return std::isnan(x) ? x : std::min(std::max(x, f.alpha), f.beta);
    case Kind::sigmoid: return sigmoid(x);
    case Kind::tanh: return std::tanh(x);
    case Kind::silu: return x * sigmoid(f.alpha * x);
    case Kind::hard_sigmoid: return clamp(f.alpha * x + f.beta, 0, 1);
    case Kind::hard_swish: return x * clamp(x / 6 + 0.5, 0, 1);
    case Kind::gelu: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Kind::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Kind::leaky_relu: return x < 0 ? f.alpha * x : x;
    case Kind::elu: return x < 0 ? f.alpha * std::expm1(x) : x;
    case Kind::softplus: return softplus(x);
    case Kind::softsign: return x / (1 + std::abs(x));
    case Kind::mish: return x * std::tanh(softplus(x));
    case Kind::affine: return f.alpha * x + f.beta;
    case Kind::scaled_tanh: return f.alpha * std::tanh(f.beta * x);
    case Kind::thresholded_relu: return x > f.alpha || std::isnan(x) ? x : 0;
  }
  return x;
}

namespace {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

Scalar lower_sigmoid(LowerContext& c, Scalar x) {
  return c.apply(ScalarOp::reciprocal, c.add(c.like(x, 1), c.exp(c.apply(ScalarOp::neg, x))));
}

Scalar lower_clamp(LowerContext& c, Scalar x, double low, double high) {
  return c.min(c.max(x, c.like(x, low)), c.like(x, high));
}

// e^x - 1 = 2 t / (1 - t), t = tanh(x / 2), keeps the digits of a small x; for x <= 0.
Scalar lower_expm1(LowerContext& c, Scalar x) {
  const Scalar t = c.apply(ScalarOp::tanh, c.mul(x, c.like(x, 0.5)));
  return c.div(c.add(t, t), c.sub(c.like(t, 1), t));
}

// log(1 + t) = t log(u) / (u - 1), u = 1 + t (Kahan), keeps the digits of a small t; for 0 <= t <= 1.
Scalar lower_log1p(LowerContext& c, Scalar t) {
  const Scalar one = c.like(t, 1), u = c.add(one, t);
  const Scalar quotient = c.div(c.mul(t, c.apply(ScalarOp::log, u)), c.sub(u, one));
  return c.select(c.apply(ScalarOp::equal, u, one), t, quotient);
}

// log(1 + e^x) without overflow: max(x, 0) + log(1 + e^-|x|)
Scalar lower_softplus(LowerContext& c, Scalar x) {
  const Scalar tail = c.exp(c.apply(ScalarOp::neg, c.apply(ScalarOp::abs, x)));
  return c.add(c.max(x, c.like(x, 0)), lower_log1p(c, tail));
}

Scalar lower_gelu_tanh(LowerContext& c, Scalar x) {
  const Scalar cubic = c.mul(c.like(x, 0.044715), c.mul(x, c.mul(x, x)));
  const Scalar inner = c.mul(c.like(x, std::sqrt(2 / std::numbers::pi)), c.add(x, cubic));
  return c.mul(c.mul(c.like(x, 0.5), x), c.add(c.like(x, 1), c.apply(ScalarOp::tanh, inner)));
}

Scalar lower_gelu(LowerContext& c, Scalar x) {
  const Scalar e = c.apply(ScalarOp::erf, c.mul(x, c.like(x, 1 / std::numbers::sqrt2)));
  return c.mul(c.mul(c.like(x, 0.5), x), c.add(c.like(x, 1), e));
}

Scalar select_negative(LowerContext& c, Scalar x, Scalar negative) {
  return c.select(c.apply(ScalarOp::less, x, c.like(x, 0)), negative, x);
}

}  // namespace

Scalar lower(LowerContext& c, const Activation& f, Scalar x) {
  const auto times = [&](Scalar a, double k) { return c.mul(a, c.like(a, k)); };
  const auto plus = [&](Scalar a, double k) { return c.add(a, c.like(a, k)); };
  switch (f.kind) {
    case Kind::identity: return x;
    case Kind::relu: return c.max(x, c.like(x, 0));
    case Kind::clip: return lower_clamp(c, x, f.alpha, f.beta);
    case Kind::sigmoid: return lower_sigmoid(c, x);
    case Kind::tanh: return c.apply(ScalarOp::tanh, x);
    case Kind::silu: return c.mul(x, lower_sigmoid(c, f.alpha == 1 ? x : times(x, f.alpha)));
    case Kind::hard_sigmoid: return lower_clamp(c, plus(times(x, f.alpha), f.beta), 0, 1);
    case Kind::hard_swish: return c.mul(x, lower_clamp(c, plus(times(x, 1.0 / 6), 0.5), 0, 1));
    case Kind::gelu: return lower_gelu(c, x);
    case Kind::gelu_tanh: return lower_gelu_tanh(c, x);
    case Kind::leaky_relu: return select_negative(c, x, times(x, f.alpha));
    case Kind::elu: return select_negative(c, x, times(lower_expm1(c, x), f.alpha));
    case Kind::softplus: return lower_softplus(c, x);
    case Kind::softsign: return c.div(x, plus(c.apply(ScalarOp::abs, x), 1));
    case Kind::mish: return c.mul(x, c.apply(ScalarOp::tanh, lower_softplus(c, x)));
    case Kind::affine: return plus(times(x, f.alpha), f.beta);
    case Kind::scaled_tanh: return times(c.apply(ScalarOp::tanh, times(x, f.beta)), f.alpha);
    case Kind::thresholded_relu:  // x <= alpha is false for NaN, which therefore stays
      return c.select(c.apply(ScalarOp::less_equal, x, c.like(x, f.alpha)), c.like(x, 0), x);
  }
  return x;
}

void apply_epilogue(const Node& node, std::vector<double>& y, const Dims& y_dims, const Tensor* residual) {
  const bool residual_last = node.attrs.integer("residual", 1) == 2;
  const Activation f = activation_of(node);
  std::vector<double> r;
  if (residual) {
    require(node, residual->dims() == y_dims,
            fmt::format("residual is {}, want [{}]", residual->type_text(), to_string(y_dims)));
    r = residual->f64_values();
  }
  for (size_t i = 0; i < y.size(); ++i) {
    const double add = r.empty() ? 0 : r[i];
    y[i] = residual_last ? apply(f, y[i]) + add : apply(f, y[i] + add);
  }
}

}  // namespace trine
