// Per-channel scales and shifts move into the weights of the convolution or matrix product after them, where nothing
// before could take them (an activation stands between, as in PP-OCR's "learnable affine"):
//
//   conv(s x + t, w, b)  ->  conv(x, w', b'),   w'[m,c,k] = w[m,c,k] s[c],   b'[m] = b[m] + sum_c,k w[m,c,k] t[c]
//
// A shift passes only without padding: padded zeros are not shifted. Every reader must be such a contraction, else the
// scale would have to stay for the others.
#include <algorithm>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

// The weights as [output, input channel within the group, taps], whatever the operator's own order.
struct Weights {
  int64_t outputs = 0, inputs = 0, taps = 1, groups = 1;
  bool transposed = false;  // a matrix [inputs, outputs]

  size_t at(int64_t m, int64_t c, int64_t k) const {
    return static_cast<size_t>(transposed ? c * outputs + m : (m * inputs + c) * taps + k);
  }
  int64_t channel(int64_t m, int64_t c) const { return m / (outputs / groups) * inputs + c; }
};

bool is_padded(const Attrs& attrs) {
  const auto pads = attrs.integers("pads");
  const std::string automatic = attrs.string("auto_pad", "NOTSET");
  return automatic.starts_with("SAME") || std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
}

// Where node n reads x as the input of constant weights.
std::optional<Weights> weights_of(const Rewriter& r, int n, ValueId x) {
  const auto& inputs = r.node(n).inputs;
  if (inputs.size() < 2 || inputs[0] != x || std::count(inputs.begin(), inputs.end(), x) != 1) return std::nullopt;
  if (!r.is_constant(inputs[1]) || (r.input(n, 2) != kNoValue && !r.is_constant(r.input(n, 2)))) return std::nullopt;
  const Tensor& w = r.constant(inputs[1]);
  const Attrs& attrs = r.node(n).attrs;
  if (w.elements() == 0) return std::nullopt;
  if (r.is(n, "conv") && w.rank() >= 3 && w.rank() == r.rank(x) && attrs.string("layout", "nchw") == "nchw") {
    const int64_t groups = attrs.integer("group", 1);
    if (groups < 1 || w.dim(0) % groups != 0) return std::nullopt;
    return Weights{w.dim(0), w.dim(1), w.elements() / (w.dim(0) * w.dim(1)), groups};
  }
  if (!r.is(n, "fused_matmul") || w.rank() != 2 || r.rank(x) < 2 || attrs.integer("trans_a") != 0 ||
      attrs.real("alpha", 1) != 1)
    return std::nullopt;
  const bool by_row = attrs.integer("trans_b") != 0;
  return Weights{w.dim(by_row ? 0 : 1), w.dim(by_row ? 1 : 0), 1, 1, !by_row};
}

// mul or add of x with a constant: one value per channel, or one for all.
struct Step {
  ValueId x;
  std::vector<double> values;
  bool shift;
};
std::optional<Step> step_of(const Rewriter& r, int n) {
  const bool shift = r.is(n, "add");
  if (!shift && !r.is(n, "mul")) return std::nullopt;
  for (int i : {0, 1}) {
    const ValueId c = r.input(n, 1 - i), x = r.input(n, i);
    if (!r.is_constant(c) || r.is_constant(x) || !is_float(r.dtype(c)) || r.type(x) != r.type(r.output(n)) ||
        r.rank(x) < 2)
      continue;
    return Step{x, r.constant(c).f64_values(), shift};
  }
  return std::nullopt;
}

// Does the constant of step n stand at the channel axis of `reader`'s input?
bool is_per_channel(const Rewriter& r, int n, const Step& s, int reader, int64_t channels) {
  if (s.values.size() == 1) return true;
  const ValueId c = r.other_input(n, s.x);
  const int rank = r.rank(s.x), own = r.rank(c), axis = r.is(reader, "conv") ? 1 : rank - 1;
  if (static_cast<int64_t>(s.values.size()) != channels || own > rank) return false;
  return axis - (rank - own) >= 0 && r.shape(c)[axis - (rank - own)] == Dim(channels);
}

bool takes(const Rewriter& r, int n, const Step& s, int reader) {
  const auto w = weights_of(r, reader, r.output(n));
  if (!w || (s.shift && is_padded(r.node(reader).attrs))) return false;
  const bool bias_fits = r.input(reader, 2) == kNoValue || r.constant(r.input(reader, 2)).elements() == w->outputs;
  return is_per_channel(r, n, s, reader, w->inputs * w->groups) && bias_fits;
}

void give(Rewriter& r, const Step& s, int reader) {
  const Weights w = *weights_of(r, reader, r.input(reader, 0));
  std::vector<ValueId> inputs = r.node(reader).inputs;
  const Tensor& given = r.constant(inputs[1]);
  std::vector<double> values = given.f64_values(), bias(static_cast<size_t>(w.outputs), 0);
  if (r.input(reader, 2) != kNoValue) bias = r.constant(inputs[2]).f64_values();
  for (int64_t m = 0; m < w.outputs; ++m)
    for (int64_t c = 0; c < w.inputs; ++c)
      for (int64_t k = 0; k < w.taps; ++k) {
        const double by = s.values.size() == 1 ? s.values[0] : s.values[static_cast<size_t>(w.channel(m, c))];
        if (s.shift) bias[static_cast<size_t>(m)] += values[w.at(m, c, k)] * by;
        else values[w.at(m, c, k)] *= by;
      }
  inputs[0] = s.x;
  if (s.shift) {
    if (inputs.size() < 3) inputs.resize(3, kNoValue);
    inputs[2] = r.add_constant(Tensor::from_f64(given.dtype(), {w.outputs}, bias));
  } else {
    inputs[1] = r.add_constant(Tensor::from_f64(given.dtype(), given.dims(), values));
  }
  r.set_inputs(reader, std::move(inputs));
}

bool fold(Rewriter& r, int n) {
  const auto s = r.node(n).op ? step_of(r, n) : std::nullopt;
  if (!s || r.is_output(r.output(n))) return false;
  const std::vector<int> readers = r.readers(r.output(n));
  if (readers.empty() || !std::all_of(readers.begin(), readers.end(), [&](int m) { return takes(r, n, *s, m); }))
    return false;
  for (int m : readers) give(r, *s, m);
  return true;
}

}  // namespace

bool fold_affine_forward(Graph& graph) {
  Rewriter r(graph);
  for (int n = r.size() - 1; n >= 0; --n) fold(r, n);  // backwards: of s x + t the shift first, then the scale
  return r.finish();
}

}  // namespace trine
