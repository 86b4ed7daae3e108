// Convolutions and pools run with channels innermost. Each is wrapped in a pair of transposes; sink_transposes makes
// them meet and cancel, so that in the end they stand at the edges of the graph.
#include "base/float_formats.h"
#include "passes/match.h"
#include "passes/passes.h"
#include "passes/permute.h"

namespace trine {
namespace {

// Kernels exist for images of one to three spatial dimensions, of f32 or (widen_halves) of what computes in f32.
bool is_image_node(const Rewriter& r, int n) {
  const bool pool =
      r.is(n, "max_pool") || r.is(n, "average_pool") || r.is(n, "global_average_pool") || r.is(n, "global_max_pool");
  if (!pool && !r.is(n, "conv") && !r.is(n, "conv_transpose")) return false;
  if (r.node(n).outputs.size() > 1 && r.node(n).outputs[1] != kNoValue) return false;  // indices count in nchw order
  const int rank = r.rank(r.input(n, 0));
  return rank >= 3 && rank <= 5 && r.rank(r.output(n)) == rank && is_half_or_f32(r.dtype(r.input(n, 0))) &&
         r.node(n).attrs.string("layout", "nchw") == "nchw";
}

void wrap(Rewriter& r, int n) {
  const int rank = r.rank(r.input(n, 0));
  std::vector<ValueId> inputs = r.node(n).inputs;
  const bool residual = r.is(n, "conv") && r.input(n, 3) != kNoValue;
  inputs[0] = add_transpose(r, inputs[0], to_nhwc(rank));
  if (residual) inputs[3] = add_transpose(r, inputs[3], to_nhwc(rank));
  Attrs attrs = r.node(n).attrs;
  attrs.set("layout", std::string("nhwc"));
  const ValueId y = r.add(r.node(n).op->name, std::move(inputs), std::move(attrs), {n});
  become_transpose(r, n, y, to_nchw(rank));
}

}  // namespace

bool prefer_nhwc(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0, count = r.size(); n < count; ++n)
    if (is_image_node(r, n)) wrap(r, n);
  return r.finish();
}

}  // namespace trine
