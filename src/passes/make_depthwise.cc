// A scale and shift of each channel that no contraction could take becomes a depthwise convolution of one tap, where it
// reads what a concat joins (a DenseNet layer):
//
//   s x + t  ->  conv(x, w = s, b = t) {group = channels}
//
// The convolution's kernels read pixels that lie apart, so that x can live inside the concat's result (plan/lodge.h);
// for a generated loop it would have to be a tensor of its own.
#include <algorithm>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

constexpr int64_t kMostChannels = 1 << 16;  // as many weights are made where one number stands for all

// The constant that node n, a mul or add, applies to each channel of x, at axis 1; also for one number for all.
std::optional<std::vector<double>> per_channel(const Rewriter& r, int n, ValueId x, int64_t channels) {
  const ValueId c = r.other_input(n, x);
  if (c == x || !r.is_constant(c) || r.type(r.output(n)) != r.type(x)) return std::nullopt;
  const Tensor& t = r.constant(c);
  const int at = t.rank() - r.rank(x) + 1;  // of the channels in t
  if (t.elements() != 1 && (at < 0 || t.elements() != channels || t.dim(at) != channels)) return std::nullopt;
  std::vector<double> values = t.f64_values();
  values.resize(static_cast<size_t>(channels), values[0]);
  return values;
}

// A kernel makes x, which can write into a wider tensor, and a concat takes it there.
bool may_live_in_concat(const Rewriter& r, ValueId x) {
  const int maker = r.maker(x);
  const bool kernel =
      r.is(maker, "concat") || r.is(maker, "conv") || r.is(maker, "max_pool") || r.is(maker, "average_pool");
  const auto& readers = r.readers(x);
  return kernel && !r.is_output(x) &&
         std::any_of(readers.begin(), readers.end(), [&](int m) { return r.is(m, "concat"); });
}

// No loop would have to read y again: what follows becomes the convolution's activation or is no loop.
bool ends_loop(const Rewriter& r, ValueId y) {
  const auto& readers = r.readers(y);
  return std::all_of(readers.begin(), readers.end(), [&](int m) {
    return !r.node(m).op->elementwise || (r.used_once(y) && (r.is(m, "relu") || r.is(m, "clip")));
  });
}

bool make_depthwise(Rewriter& r, int n) {
  if (!r.is(n, "mul")) return false;
  const ValueId x = r.is_constant(r.input(n, 0)) ? r.input(n, 1) : r.input(n, 0);
  const int rank = r.rank(x);
  if (rank < 3 || rank > 5 || r.dtype(x) != DType::f32 || !may_live_in_concat(r, x)) return false;
  const auto channels = r.shape(x)[1].constant();
  const auto scale =
      channels && *channels > 1 && *channels <= kMostChannels ? per_channel(r, n, x, *channels) : std::nullopt;
  if (!scale) return false;
  const ValueId product = r.output(n);
  const int follower = r.used_once(product) ? r.readers(product)[0] : -1;
  const auto shift = r.is(follower, "add") ? per_channel(r, follower, product, *channels) : std::nullopt;
  if (!ends_loop(r, r.output(shift ? follower : n))) return false;
  Dims dims(static_cast<size_t>(rank), 1);
  dims[0] = *channels;
  std::vector<ValueId> inputs{x, r.add_constant(Tensor::from_f64(DType::f32, dims, *scale))};
  if (shift) inputs.push_back(r.add_constant(Tensor::from_f64(DType::f32, {*channels}, *shift)));
  Attrs attrs;
  attrs.set("group", *channels);
  r.rewrite(shift ? follower : n, "conv", std::move(inputs), std::move(attrs), {n});
  return true;
}

}  // namespace

bool make_depthwise(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) make_depthwise(r, n);
  return r.finish();
}

}  // namespace trine
