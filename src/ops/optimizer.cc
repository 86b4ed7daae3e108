// Adagrad, Adam and Momentum (ai.onnx.preview.training): one step for n tensors. Inputs R (learning rate), T (step),
// then n values, n gradients and n of each accumulator; outputs the new values, then each new accumulator.
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"

namespace trine {
namespace {

// `kinds` inputs for each tensor: value, gradient, accumulators; all but the gradient come back.
int64_t tensor_count(const Node& node, int inputs, int kinds) {
  const int rest = inputs - 2;
  require(node, rest >= kinds && rest % kinds == 0,
          fmt::format("{} inputs after R and T; want a multiple of {}", rest, kinds));
  return rest / kinds;
}

void infer_step(InferContext& c, int kinds) {
  const int n = static_cast<int>(tensor_count(c.node(), c.input_count(), kinds));
  for (int i = 0; i < n * (kinds - 1); ++i) {
    const int from = 2 + (i < n ? i : i + n);
    c.set(i, c.dtype(from), c.shape(from));
  }
}

double scalar(EvalContext& c, int input) {
  require(c.node(), c.tensor(input).elements() == 1,
          fmt::format("input {} is {}; want one element", input, c.tensor(input).type_text()));
  return c.tensor(input).f64_values()[0];
}

// update(values of one element: x, g, accumulators...) changes them in place.
template <class F>
void step(EvalContext& c, int kinds, F update) {
  const int n = static_cast<int>(tensor_count(c.node(), c.input_count(), kinds));
  for (int t = 0; t < n; ++t) {
    const Tensor& x = c.tensor(2 + t);
    std::vector<std::vector<double>> all;
    for (int k = 0; k < kinds; ++k) {
      const Tensor& part = c.tensor(2 + k * n + t);
      require(c.node(), part.dims() == x.dims(),
              fmt::format("input {} is {}; want [{}]", 2 + k * n + t, part.type_text(), to_string(x.dims())));
      all.push_back(part.f64_values());
    }
    for (size_t i = 0; i < all[0].size(); ++i) {
      double element[4] = {};
      for (int k = 0; k < kinds; ++k) element[k] = all[static_cast<size_t>(k)][i];
      update(element);
      for (int k = 0; k < kinds; ++k) all[static_cast<size_t>(k)][i] = element[k];
    }
    for (int k = 0, out = t; k < kinds; ++k) {
      if (k == 1) continue;
      c.set(out, Tensor::from_f64(c.tensor(2 + k * n + t).dtype(), x.dims(), all[static_cast<size_t>(k)]));
      out += n;
    }
  }
}

void adagrad_infer(InferContext& c) { infer_step(c, 3); }

void adagrad_reference(EvalContext& c) {
  const double rate = scalar(c, 0) / (1 + scalar(c, 1) * c.attrs().real("decay_factor"));
  const double norm = c.attrs().real("norm_coefficient"), epsilon = c.attrs().real("epsilon", 1e-6);
  step(c, 3, [=](double* e) {  // x, g, h
    const double g = norm * e[0] + e[1];
    e[2] += g * g;
    e[0] -= rate * g / (std::sqrt(e[2]) + epsilon);
  });
}

const OpDef op_adagrad = {
    .name = "adagrad",
    .onnx = "ai.onnx.preview.training:Adagrad",
    .doc = "h += g^2; x -= rate * g / (sqrt(h) + epsilon)",
    .types = "f l Tf ...",
    .min_inputs = 5,
    .max_inputs = -1,
    .min_outputs = 1,
    .max_outputs = -1,
    .infer = adagrad_infer,
    .reference = adagrad_reference,
};
const RegisterOp register_adagrad(op_adagrad);

void adam_infer(InferContext& c) { infer_step(c, 4); }

void adam_reference(EvalContext& c) {
  const double alpha = c.attrs().real("alpha", 0.9), beta = c.attrs().real("beta", 0.999), t = scalar(c, 1);
  const double rate = t > 0 ? scalar(c, 0) * std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : scalar(c, 0);
  const double norm = c.attrs().real("norm_coefficient"), post = c.attrs().real("norm_coefficient_post");
  const double epsilon = c.attrs().real("epsilon", 1e-6);
  step(c, 4, [=](double* e) {  // x, g, v, h
    const double g = norm * e[0] + e[1];
    e[2] = alpha * e[2] + (1 - alpha) * g;
    e[3] = beta * e[3] + (1 - beta) * g * g;
    e[0] = (1 - post) * (e[0] - rate * e[2] / (std::sqrt(e[3]) + epsilon));
  });
}

const OpDef op_adam = {
    .name = "adam",
    .onnx = "ai.onnx.preview.training:Adam",
    .doc = "v = alpha v + (1-alpha) g; h = beta h + (1-beta) g^2; x -= rate * v / (sqrt(h) + epsilon)",
    .types = "f l Tf ...",
    .min_inputs = 6,
    .max_inputs = -1,
    .min_outputs = 1,
    .max_outputs = -1,
    .infer = adam_infer,
    .reference = adam_reference,
};
const RegisterOp register_adam(op_adam);

void momentum_infer(InferContext& c) { infer_step(c, 3); }

void momentum_reference(EvalContext& c) {
  const double rate = scalar(c, 0), alpha = c.attrs().real("alpha"), norm = c.attrs().real("norm_coefficient");
  const double beta = scalar(c, 1) > 0 ? c.attrs().real("beta") : 1;
  const std::string mode = c.attrs().string("mode", "standard");
  require(c.node(), mode == "standard" || mode == "nesterov",
          fmt::format("mode '{}'; want standard or nesterov", mode));
  const bool nesterov = mode == "nesterov";
  step(c, 3, [=](double* e) {  // x, g, v
    const double g = norm * e[0] + e[1];
    e[2] = alpha * e[2] + beta * g;
    e[0] -= rate * (nesterov ? g + alpha * e[2] : e[2]);
  });
}

const OpDef op_momentum = {
    .name = "momentum",
    .onnx = "ai.onnx.preview.training:Momentum",
    .doc = "v = alpha v + beta g; x -= rate * v, or with Nesterov's look ahead",
    .types = "f l Tf ...",
    .min_inputs = 5,
    .max_inputs = -1,
    .min_outputs = 1,
    .max_outputs = -1,
    .infer = momentum_infer,
    .reference = momentum_reference,
};
const RegisterOp register_momentum(op_momentum);

}  // namespace
}  // namespace trine
