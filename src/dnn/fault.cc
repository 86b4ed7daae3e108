// What is wrong with a problem before any row is asked: numbers that no definition allows, and sizes past what can be
// addressed.
#include <fmt/format.h>

#include <algorithm>

#include "trine/dnn/primitive.h"

namespace trine::dnn {
namespace {

constexpr double kMostElements = 0x1p56;

class Fault {
 public:
  std::string text() && { return std::move(text_); }

  void need(bool is_so, std::string_view what, std::string_view accepted) {
    if (!is_so && text_.empty()) text_ = fmt::format("{}; {}", what, accepted);
  }
  void at_least(std::string_view name, int64_t value, int64_t least) {
    if (value < least) need(false, fmt::format("{} {}", name, value), fmt::format("{} at least", least));
  }
  void at_least(std::string_view name, const Extents& values, int64_t least) {
    for (int64_t v : values) at_least(name, v, least);
  }
  // Also that no dimension is negative.
  void size(std::string_view name, std::initializer_list<int64_t> dims) { size_of(name, dims); }
  void size(std::string_view name, const Dims& dims) { size_of(name, dims); }
  void pixel_stride(std::string_view name, int64_t stride, int64_t channels) {
    if (stride != 0) at_least(name, stride, channels);
  }
  void probability(std::string_view name, double p, bool may_be_one) {
    need(p >= 0 && (may_be_one ? p <= 1 : p < 1), fmt::format("{} {}", name, p), "a probability is accepted");
  }

 private:
  template <class Range>
  void size_of(std::string_view name, const Range& dims) {
    double product = 1;
    for (int64_t d : dims) at_least(name, d, 0), product *= static_cast<double>(d);
    need(product <= kMostElements, fmt::format("{} of {} elements", name, product), "2^56 at most");
  }

  std::string text_;
};

void check(const ConvProblem& p, Fault& f) {
  f.at_least("groups", p.groups, 1);
  f.at_least("kernel", p.kernel, 1);
  f.at_least("stride", p.stride, 1);
  f.at_least("dilation", p.dilation, 1);
  f.size("x", {p.n, p.in[0], p.in[1], p.in[2], p.in_channels});
  f.size("y", {p.n, p.out[0], p.out[1], p.out[2], p.out_channels});
  f.size("weights", {p.in_channels, p.out_channels, p.kernel[0], p.kernel[1], p.kernel[2]});
  if (p.groups > 0)
    f.need(p.in_channels % p.groups == 0 && p.out_channels % p.groups == 0,
           fmt::format("groups {} of {} and {} channels", p.groups, p.in_channels, p.out_channels),
           "a divisor of both is accepted");
  f.pixel_stride("pixel stride of x", p.in_pixel_stride, p.in_channels);
  f.pixel_stride("pixel stride of y", p.out_pixel_stride, p.out_channels);
}
void check(const ConvWeightsProblem& p, Fault& f) { check(p.forward, f); }

void check(const MatmulProblem& p, Fault& f) {
  f.size("y", {p.m, p.n});
  f.size("a", {p.m, p.k});
  f.size("b", {p.k, p.n});
  f.size("batch of a", p.a_batch);
  f.size("batch of b", p.b_batch);
  for (size_t i = 0; i < std::min(p.a_batch.size(), p.b_batch.size()); ++i) {
    const int64_t a = p.a_batch[p.a_batch.size() - 1 - i], b = p.b_batch[p.b_batch.size() - 1 - i];
    f.need(a == b || a == 1 || b == 1, fmt::format("batches of {} and {}", a, b), "equal ones and 1 are accepted");
  }
  f.need(!p.b_constant || p.b_batch.empty(), "a constant b with a batch", "give one matrix");
  f.pixel_stride("row stride of y", p.out_row_stride, p.n);
}

void check(const PoolProblem& p, Fault& f) {
  f.at_least("kernel", p.kernel, 1);
  f.at_least("stride", p.stride, 1);
  f.at_least("dilation", p.dilation, 1);
  f.at_least("padding", p.pad_begin, 0);
  f.at_least("padding", p.pad_end, 0);
  f.size("x", {p.n, p.in[0], p.in[1], p.in[2], p.channels});
  f.size("y", {p.n, p.out[0], p.out[1], p.out[2], p.channels});
  f.pixel_stride("pixel stride of x", p.in_pixel_stride, p.channels);
  f.pixel_stride("pixel stride of y", p.out_pixel_stride, p.channels);
}
void check(const PoolBackwardProblem& p, Fault& f) { check(p.forward, f); }

void check(const ResizeProblem& p, Fault& f) {
  f.size("x", {p.n, p.in[0], p.in[1], p.in[2], p.channels});
  f.size("y", {p.n, p.out[0], p.out[1], p.out[2], p.channels});
  f.pixel_stride("pixel stride of x", p.in_pixel_stride, p.channels);
  f.pixel_stride("pixel stride of y", p.out_pixel_stride, p.channels);
  for (double s : p.scale) f.need(s > 0, fmt::format("scale {}", s), "positive ones are accepted");
}

void check(const AttentionProblem& p, Fault& f) {
  f.at_least("kv_heads", p.kv_heads, 1);
  f.size("q", {p.batch, p.heads, p.q_len, p.head_dim});
  f.size("k", {p.batch, p.kv_heads, p.kv_len, p.head_dim});
  f.size("v", {p.batch, p.kv_heads, p.kv_len, p.v_head_dim});
  f.size("scores", {p.batch, p.heads, p.q_len, p.kv_len});
  if (p.kv_heads > 0)
    f.need(p.heads % p.kv_heads == 0, fmt::format("{} heads over {} of k and v", p.heads, p.kv_heads),
           "a multiple is accepted");
  f.probability("dropout", static_cast<double>(p.dropout), false);
}

void check(const RnnProblem& p, Fault& f) {
  f.at_least("layers", p.layers, 1);
  f.at_least("hidden", p.hidden, 1);
  f.at_least("projection", p.projection, 0);
  f.size("x", {p.steps, p.batch, p.input});
  f.size("y", {p.steps, p.directions(), p.batch, p.hidden, p.layers});
  f.size("weights", {p.layers, p.directions(), p.gates(), p.hidden, std::max(p.input, p.directions() * p.hidden)});
  f.probability("dropout", static_cast<double>(p.dropout), false);
}

void check(const CopyProblem& p, Fault& f) {
  f.at_least("bytes of an element", p.element_bytes, 1);
  f.size("x", p.dims);
  f.need(p.in_strides.size() == p.dims.size() && p.out_strides.size() == p.dims.size(),
         "strides other in number than the dimensions", "give one for each");
}
void check(const TransformProblem& p, Fault& f) { f.size("x", p.dims); }
void check(const GatherProblem& p, Fault& f) {
  f.size("data", {p.outer, p.axis, p.inner_bytes});
  f.size("y", {p.outer, p.count, p.inner_bytes});
}
void check(const CtcLossProblem& p, Fault& f) {
  f.size("x", {p.steps, p.batch, p.classes});
  f.size("labels", {p.batch, p.max_label});
}
void check(const AffineGridProblem& p, Fault& f) {
  f.size("grid", {p.n, p.out[0], p.out[1], p.out[2], p.axes});
  f.need(p.axes == 2 || p.axes == 3, fmt::format("{} axes", p.axes), "2 and 3 are accepted");
}
void check(const GridSampleProblem& p, Fault& f) {
  f.size("x", {p.n, p.in[0], p.in[1], p.in[2], p.channels});
  f.size("y", {p.n, p.out[0], p.out[1], p.out[2], p.channels});
  f.need(p.axes == 2 || p.axes == 3, fmt::format("{} axes", p.axes), "2 and 3 are accepted");
}
void check(const ActivationProblem& p, Fault& f) { f.size("x", {p.elements}); }
void check(const BinaryProblem& p, Fault& f) {
  f.size("a", p.dims);
  f.size("b", p.b_dims);
}
void check(const DropoutProblem& p, Fault& f) {
  f.size("x", {p.elements});
  f.probability("rate", p.rate, true);
}
void check(const SoftmaxProblem& p, Fault& f) { f.size("x", {p.outer, p.axis, p.inner}); }
void check(const NormProblem& p, Fault& f) {
  f.size("x", {p.n, p.channels, p.pixels});
  f.at_least("groups", p.groups, 1);
  f.need(p.epsilon >= 0, fmt::format("epsilon {}", p.epsilon), "0 and more are accepted");
}
void check(const LrnProblem& p, Fault& f) {
  f.size("x", {p.n, p.channels, p.image[0], p.image[1], p.image[2]});
  f.at_least("size", p.size, 1);
}
void check(const ReduceProblem& p, Fault& f) { f.size("a", p.dims); }

}  // namespace

std::string fault(const Problem& problem) {
  Fault f;
  std::visit([&](const auto& p) { check(p, f); }, problem);
  return std::move(f).text();
}

}  // namespace trine::dnn
