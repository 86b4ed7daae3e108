// CausalConvWithState: depthwise convolution along time that sees only the past, which is `past_state` (or zeros)
// followed by the input. Outputs y [B,C,L] and the last k-1 positions as the next state.
//   y[b,c,t] = f(bias[c] + sum_j w[c,0,j] * (past ++ x)[b,c,t+j]),  f = identity or silu
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/activation.h"
#include "ops/conv.h"
#include "ops/node_error.h"

namespace trine {
namespace {

struct Sizes {
  Dim batch, channels, length, kernel;
};

Sizes sizes_of(const Node& node, const Shape& x, const Shape& w) {
  require(
      node, x.rank() == 3 && w.rank() == 3,
      fmt::format("input is [{}], weight [{}]; want [batch,channels,length] and [channels,1,k]", x.text(), w.text()));
  require(node, !w[1].is_constant() || w[1] == Dim(1), fmt::format("weight is [{}]; want [channels,1,k]", w.text()));
  require(node, !w[0].is_constant() || !x[1].is_constant() || w[0] == x[1],
          fmt::format("weight is [{}] for {} channels", w.text(), x[1].text()));
  require(node, !w[2].is_constant() || w[2].value() >= 1, "the kernel is empty");
  const std::string f = node.attrs.string("activation", "none");
  require(node, f == "none" || f == "silu" || f == "swish",
          fmt::format("activation '{}'; want none, silu or swish", f));
  return {x[0], x[1], x[2], w[2]};
}

void causal_conv_infer(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) {
    c.set(0, c.dtype(0), c.shape(0));
    return c.set(1, c.dtype(0), Shape());
  }
  const Sizes s = sizes_of(c.node(), c.shape(0), c.shape(1));
  c.set(0, c.dtype(0), c.shape(0));
  c.set(1, c.dtype(0), Shape{s.batch, s.channels, s.kernel - 1});
}

void causal_conv_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1);
  const Sizes s = sizes_of(c.node(), Shape::from(x.dims()), Shape::from(w.dims()));
  const int64_t rows = x.dim(0) * x.dim(1), channels = x.dim(1), length = x.dim(2), kernel = w.dim(2),
                past = kernel - 1;
  const Dims state_dims = {x.dim(0), channels, past};
  const std::vector<double> xv = x.f64_values(), wv = w.f64_values();
  std::vector<double> bias(static_cast<size_t>(channels), 0.0), before(static_cast<size_t>(rows * past), 0.0);
  if (c.has(2)) {
    require_per_channel(c.node(), Shape::from(c.tensor(2).dims()), channels, "bias");
    bias = c.tensor(2).f64_values();
  }
  if (c.has(3)) {
    require(c.node(), c.tensor(3).dims() == state_dims,
            fmt::format("past_state is {}; want [{}]", c.tensor(3).type_text(), to_string(state_dims)));
    before = c.tensor(3).f64_values();
  }
  Activation f;
  if (c.attrs().string("activation", "none") != "none") f = {Activation::Kind::silu, 1, 0};
  std::vector<double> y(xv.size()), after(before.size());
  for (int64_t r = 0; r < rows; ++r) {
    const auto at = [&](int64_t t) {
      return t < past ? before[static_cast<size_t>(r * past + t)] : xv[static_cast<size_t>(r * length + t - past)];
    };
    const int64_t ch = r % channels;
    for (int64_t t = 0; t < length; ++t) {
      double sum = bias[static_cast<size_t>(ch)];
      for (int64_t j = 0; j < kernel; ++j) sum += wv[static_cast<size_t>(ch * kernel + j)] * at(t + j);
      y[static_cast<size_t>(r * length + t)] = apply(f, sum);
    }
    for (int64_t j = 0; j < past; ++j) after[static_cast<size_t>(r * past + j)] = at(length + j);
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
  c.set(1, Tensor::from_f64(x.dtype(), state_dims, after));
}

const OpDef op_causal_conv_with_state = {
    .name = "causal_conv_with_state",
    .onnx = "CausalConvWithState",
    .doc = "depthwise causal convolution over past_state ++ input; also the state for the next call",
    .types = "Tf T T T",
    .min_inputs = 2,
    .max_inputs = 4,
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = causal_conv_infer,
    .reference = causal_conv_reference,
};
const RegisterOp register_causal_conv_with_state(op_causal_conv_with_state);

}  // namespace
}  // namespace trine
