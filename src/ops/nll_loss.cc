// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss over scores [N,C,d...] and labels [N,d...]:
//   loss[n,d] = -weight[label] * log_prob[n,label,d], 0 for ignore_index;  reduction none, sum, or mean = sum / sum of
//   weights
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"

namespace trine {
namespace {

enum class Reduction : uint8_t { none, sum, mean };

Reduction reduction_of(const Node& node) {
  const std::string text = node.attrs.string("reduction", "mean");
  if (text == "none") return Reduction::none;
  if (text == "sum") return Reduction::sum;
  require(node, text == "mean", fmt::format("reduction '{}'; want none, sum or mean", text));
  return Reduction::mean;
}

// Of an unreduced loss.
Shape loss_shape(const Shape& scores, const Shape& labels) {
  if (labels.has_rank()) return labels;
  if (!scores.has_rank()) return Shape();
  std::vector<Dim> dims = scores.dims();
  if (dims.size() > 1) dims.erase(dims.begin() + 1);
  return Shape(std::move(dims));
}

void loss_infer(InferContext& c) {
  c.need_rank_at_least(0, 2);
  const Shape &x = c.shape(0), &t = c.shape(1);
  if (x.has_rank() && t.has_rank() && x.rank() != t.rank() + 1)
    c.fail(fmt::format("scores are [{}], labels [{}]; want [N,C,d...] and [N,d...]", x.text(), t.text()));
  const bool scalar = reduction_of(c.node()) != Reduction::none;
  c.set(0, c.dtype(0), scalar ? Shape(std::vector<Dim>{}) : loss_shape(x, t));
  c.set(1, c.dtype(0), x);
}

struct Sizes {
  int64_t batch, classes, inner;
};

Sizes sizes_of(const Node& node, const Tensor& x, const Tensor& labels) {
  require(node, x.rank() >= 2, fmt::format("scores are {}; want [N,C,d...]", x.type_text()));
  Dims want = x.dims();
  want.erase(want.begin() + 1);
  require(node, labels.dims() == want, fmt::format("labels are {}; want [{}]", labels.type_text(), to_string(want)));
  Sizes s{x.dim(0), x.dim(1), 1};
  for (int i = 2; i < x.rank(); ++i) s.inner *= x.dim(i);
  return s;
}

void set_loss(EvalContext& c, const Sizes& s, const std::vector<double>& log_prob) {
  const Tensor& labels = c.tensor(1);
  const std::vector<int64_t> target = labels.i64_values();
  std::vector<double> weight(static_cast<size_t>(s.classes), 1.0);
  if (c.has(2)) {
    require(c.node(), c.tensor(2).elements() == s.classes,
            fmt::format("weight is {}; want [{}]", c.tensor(2).type_text(), s.classes));
    weight = c.tensor(2).f64_values();
  }
  const bool ignores = c.attrs().has("ignore_index");
  const int64_t ignored = c.attrs().integer("ignore_index");
  std::vector<double> loss(target.size(), 0.0);
  double sum = 0, weights = 0;
  for (size_t i = 0; i < target.size(); ++i) {
    if (ignores && target[i] == ignored) continue;
    require(c.node(), target[i] >= 0 && target[i] < s.classes,
            fmt::format("label {} outside [0, {})", target[i], s.classes));
    const int64_t n = static_cast<int64_t>(i) / s.inner, d = static_cast<int64_t>(i) % s.inner;
    const double w = weight[static_cast<size_t>(target[i])];
    loss[i] = -w * log_prob[static_cast<size_t>((n * s.classes + target[i]) * s.inner + d)];
    sum += loss[i];
    weights += w;
  }
  const Reduction reduction = reduction_of(c.node());
  const DType dtype = c.tensor(0).dtype();
  if (reduction == Reduction::none) c.set(0, Tensor::from_f64(dtype, labels.dims(), loss));
  else c.set(0, Tensor::from_f64(dtype, {}, {reduction == Reduction::sum ? sum : sum / weights}));
}

void nll_loss_reference(EvalContext& c) {
  const Sizes s = sizes_of(c.node(), c.tensor(0), c.tensor(1));
  set_loss(c, s, c.tensor(0).f64_values());
}

const OpDef op_nll_loss = {
    .name = "nll_loss",
    .onnx = "NegativeLogLikelihoodLoss",
    .doc = "-weight[label] * x[label], reduced; x holds log-probabilities",
    .types = "Tf x T",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = loss_infer,
    .reference = nll_loss_reference,
};
const RegisterOp register_nll_loss(op_nll_loss);

// Log-softmax over the classes.
std::vector<double> log_softmax(std::vector<double> x, const Sizes& s) {
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t d = 0; d < s.inner; ++d) {
      const auto at = [&](int64_t k) -> double& { return x[static_cast<size_t>((n * s.classes + k) * s.inner + d)]; };
      double top = -INFINITY, sum = 0;
      for (int64_t k = 0; k < s.classes; ++k) top = std::isnan(at(k)) || at(k) > top ? at(k) : top;
      for (int64_t k = 0; k < s.classes; ++k) sum += std::exp(at(k) - top);
      for (int64_t k = 0; k < s.classes; ++k) at(k) -= top + std::log(sum);
    }
  return x;
}

void softmax_cross_entropy_loss_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Sizes s = sizes_of(c.node(), x, c.tensor(1));
  const std::vector<double> log_prob = log_softmax(x.f64_values(), s);
  set_loss(c, s, log_prob);
  if (c.wants(1)) c.set(1, Tensor::from_f64(x.dtype(), x.dims(), log_prob));
}

const OpDef op_softmax_cross_entropy_loss = {
    .name = "softmax_cross_entropy_loss",
    .onnx = "SoftmaxCrossEntropyLoss",
    .doc = "nll_loss of log_softmax(scores); also the log-probabilities",
    .types = "Tf x T",
    .min_inputs = 2,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = loss_infer,
    .reference = softmax_cross_entropy_loss_reference,
};
const RegisterOp register_softmax_cross_entropy_loss(op_softmax_cross_entropy_loss);

}  // namespace
}  // namespace trine
