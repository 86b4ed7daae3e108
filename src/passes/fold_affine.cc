// Per-channel scales and shifts move into the weights and bias of the convolution or matrix product before them:
//
//   batch_normalization(conv(x, w, b))  ->  conv(x, w a, b a + c),   a = scale / sqrt(var + eps), c = bias - mean a
//   mul, div, add, sub by a constant of one value per channel likewise
//
// A batch_normalization that follows something else becomes one multiplication and one addition, which fuse with their
// neighbours. New weights are computed in f64 and rounded once.
#include <cmath>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

// y = scale[c] * x + shift[c]; one value for each channel, or empty: 1 resp. 0.
struct Affine {
  std::vector<double> scale, shift;
};

std::optional<std::vector<double>> values_of(const Rewriter& r, ValueId v) {
  if (v == kNoValue || !r.is_constant(v) || !is_float(r.dtype(v))) return std::nullopt;
  return r.constant(v).f64_values();
}

std::optional<Affine> affine_of_norm(const Rewriter& r, int n) {
  if (!r.is(n, "batch_normalization") || r.node(n).attrs.integer("training_mode") != 0) return std::nullopt;
  const auto scale = values_of(r, r.input(n, 1)), bias = values_of(r, r.input(n, 2));
  const auto mean = values_of(r, r.input(n, 3)), variance = values_of(r, r.input(n, 4));
  if (!scale || !bias || !mean || !variance) return std::nullopt;
  const size_t channels = scale->size();
  if (bias->size() != channels || mean->size() != channels || variance->size() != channels) return std::nullopt;
  const double epsilon = r.node(n).attrs.real("epsilon", 1e-5);
  Affine a;
  for (size_t c = 0; c < channels; ++c) {
    a.scale.push_back((*scale)[c] / std::sqrt((*variance)[c] + epsilon));
    a.shift.push_back((*bias)[c] - (*mean)[c] * a.scale[c]);
  }
  return a;
}

// A constant that broadcasts against [.., channels at `axis`, ..] with one value per channel, or one for all.
std::optional<std::vector<double>> per_channel(const Rewriter& r, ValueId v, int rank, int axis, int64_t channels) {
  if (v == kNoValue || !r.is_constant(v) || r.constant(v).rank() > rank) return std::nullopt;
  const Tensor& t = r.constant(v);
  for (int i = 0; i < t.rank(); ++i) {
    const bool at_axis = i + rank - t.rank() == axis;
    if (t.dim(i) != 1 && (!at_axis || t.dim(i) != channels)) return std::nullopt;
  }
  auto values = t.f64_values();
  if (values.size() == 1) values.assign(static_cast<size_t>(channels), values[0]);
  return values;
}

// What node n does to input `x`, whose channels stand at `axis`.
std::optional<Affine> affine_of(const Rewriter& r, int n, ValueId x, int axis, int64_t channels) {
  if (r.is(n, "batch_normalization")) return axis == 1 && r.input(n, 0) == x ? affine_of_norm(r, n) : std::nullopt;
  const bool sum = r.is(n, "add"), difference = r.is(n, "sub"), quotient = r.is(n, "div");
  if (!sum && !difference && !quotient && !r.is(n, "mul")) return std::nullopt;
  if (r.type(r.output(n)) != r.type(x) || ((difference || quotient) && r.input(n, 0) != x)) return std::nullopt;
  auto values = per_channel(r, r.other_input(n, x), r.rank(x), axis, channels);
  if (!values) return std::nullopt;
  for (double& v : *values) {
    if (quotient && v == 0) return std::nullopt;
    v = difference ? -v : quotient ? 1 / v : v;
  }
  return sum || difference ? Affine{{}, *values} : Affine{*values, {}};
}

// A contraction whose epilogue is still plain and whose weights are constant.
struct Contraction {
  int channel_axis = 0;  // of the output
  int64_t channels = 0;
  int weight_axis = 0;  // of the weights' output channels
  int64_t groups = 1;   // transposed convolution: channel m is column m % (M / groups) of group m / (M / groups)
};

std::optional<Contraction> contraction_of(const Rewriter& r, int n) {
  const Attrs& attrs = r.node(n).attrs;
  if (n < 0 || attrs.has("activation") || r.input(n, 3) != kNoValue || !r.is_constant(r.input(n, 1)))
    return std::nullopt;
  if (r.input(n, 2) != kNoValue && !r.is_constant(r.input(n, 2))) return std::nullopt;
  const Tensor& w = r.constant(r.input(n, 1));
  if (!is_float(w.dtype())) return std::nullopt;
  const bool image = w.rank() >= 3 && r.rank(r.output(n)) == w.rank();
  if (image && r.is(n, "conv") && attrs.string("layout", "nchw") == "nchw") return Contraction{1, w.dim(0), 0, 1};
  if (image && r.is(n, "conv_transpose") && attrs.string("layout", "nchw") == "nchw") {
    const int64_t groups = attrs.integer("group", 1);
    return Contraction{1, w.dim(1) * groups, 1, groups};
  }
  if (!r.is(n, "fused_matmul") || w.rank() != 2 || r.rank(r.output(n)) < 2) return std::nullopt;
  const int axis = attrs.integer("trans_b") != 0 ? 0 : 1;
  return Contraction{r.rank(r.output(n)) - 1, w.dim(axis), axis, 1};
}

Tensor scaled_weights(const Tensor& w, const Contraction& c, const std::vector<double>& scale) {
  std::vector<double> values = w.f64_values();
  int64_t inner = 1;  // elements that share the index on weight_axis
  for (int i = c.weight_axis + 1; i < w.rank(); ++i) inner *= w.dim(i);
  const int64_t along = w.dim(c.weight_axis), per_group = c.groups > 1 ? w.dim(0) / c.groups : 1;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i) / inner;
    const int64_t group = c.groups > 1 ? at / along / per_group : 0;
    values[i] *= scale[static_cast<size_t>(group * along + at % along)];
  }
  return Tensor::from_f64(w.dtype(), w.dims(), values);
}

void apply(Rewriter& r, int n, int follower, const Contraction& c, const Affine& a) {
  std::vector<ValueId> inputs = r.node(n).inputs;
  std::vector<double> bias(static_cast<size_t>(c.channels), 0);
  if (r.input(n, 2) != kNoValue) bias = r.constant(r.input(n, 2)).f64_values();
  if (bias.size() == 1) bias.resize(static_cast<size_t>(c.channels), bias[0]);
  const DType dtype = r.dtype(inputs[1]);
  if (!a.scale.empty()) {
    for (size_t i = 0; i < bias.size(); ++i) bias[i] *= a.scale[i];
    inputs[1] = r.add_constant(scaled_weights(r.constant(inputs[1]), c, a.scale));
  }
  for (size_t i = 0; i < a.shift.size(); ++i) bias[i] += a.shift[i];
  inputs.resize(2);
  if (r.input(n, 2) != kNoValue || !a.shift.empty())
    inputs.push_back(r.add_constant(Tensor::from_f64(dtype, {c.channels}, bias)));
  const std::string op(r.node(n).op->name);
  r.rewrite(follower, op, std::move(inputs), r.node(n).attrs, {n});
}

bool fold_into_contraction(Rewriter& r, int n) {
  const auto c = contraction_of(r, n);
  if (!c || c->channels < 1 || !r.used_once(r.output(n))) return false;
  const ValueId y = r.output(n);
  if (r.input(n, 2) != kNoValue && r.constant(r.input(n, 2)).elements() != c->channels) return false;
  const int follower = r.readers(y)[0];
  const auto a = affine_of(r, follower, y, c->channel_axis, c->channels);
  if (!a) return false;
  const auto fits = [&](const std::vector<double>& v) {
    return v.empty() || v.size() == static_cast<size_t>(c->channels);
  };
  if (!fits(a->scale) || !fits(a->shift)) return false;
  apply(r, n, follower, *c, *a);
  return true;
}

bool split_norm(Rewriter& r, int n) {
  const auto a = affine_of_norm(r, n);
  const ValueId x = r.input(n, 0);
  if (!a || r.rank(x) < 2) return false;
  Dims dims(static_cast<size_t>(r.rank(x) - 1), 1);
  dims[0] = static_cast<int64_t>(a->scale.size());
  const DType dtype = r.dtype(x);
  const ValueId product = r.add("mul", {x, r.add_constant(Tensor::from_f64(dtype, dims, a->scale))}, {}, {n});
  r.rewrite(n, "add", {product, r.add_constant(Tensor::from_f64(dtype, dims, a->shift))});
  return true;
}

}  // namespace

bool fold_affine(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n)  // the follower becomes the contraction: the loop meets it again
    if (r.node(n).op) fold_into_contraction(r, n);
  for (int n = 0; n < r.size(); ++n) split_norm(r, n);
  return r.finish();
}

}  // namespace trine
