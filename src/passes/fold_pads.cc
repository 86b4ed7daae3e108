// A constant pad of spatial dimensions becomes the padding of the window operator that reads it:
//
//   conv          a pad of 0
//   average_pool  a pad of 0, where padding counts: count_include_pad, or no padding of its own so far
//   max_pool      a pad of -inf or the type's lowest value
#include <algorithm>
#include <limits>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

struct Pad {
  ValueId x;
  double value;
  std::vector<int64_t> begin, end;  // of the spatial dimensions
};

std::optional<Pad> spatial_pad(const Rewriter& r, int n) {
  if (!r.is(n, "pad") || r.node(n).attrs.string("mode", "constant") != "constant" || r.input(n, 3) != kNoValue)
    return std::nullopt;
  const auto pads = r.integers(n, 1);
  const int rank = r.rank(r.input(n, 0));
  if (!pads || rank < 3 || pads->size() != static_cast<size_t>(2 * rank)) return std::nullopt;
  if (std::any_of(pads->begin(), pads->end(),
                  [](int64_t p) { return p < 0 || p > std::numeric_limits<int32_t>::max(); }))
    return std::nullopt;
  const auto split = pads->begin() + rank;
  if ((*pads)[0] != 0 || (*pads)[1] != 0 || split[0] != 0 || split[1] != 0) return std::nullopt;
  const auto value = r.input(n, 2) == kNoValue ? std::optional(0.0) : r.number(r.input(n, 2));
  if (!value) return std::nullopt;
  return Pad{r.input(n, 0), *value, {pads->begin() + 2, split}, {split + 2, pads->end()}};
}

bool is_lowest(double value, DType type) {
  return value == -std::numeric_limits<double>::infinity() ||
         (type == DType::f32 && value == static_cast<double>(std::numeric_limits<float>::lowest()));
}

bool may_take(const Rewriter& r, int n, const Pad& pad, const std::vector<int64_t>& own) {
  const Attrs& attrs = r.node(n).attrs;
  if (r.is(n, "conv")) return pad.value == 0;
  if (attrs.integer("ceil_mode") != 0) return false;
  if (r.is(n, "max_pool")) return is_lowest(pad.value, r.dtype(pad.x)) && r.node(n).outputs.size() == 1;
  const bool none = std::all_of(own.begin(), own.end(), [](int64_t p) { return p == 0; });
  return r.is(n, "average_pool") && pad.value == 0 && (none || attrs.integer("count_include_pad") != 0);
}

bool fold(Rewriter& r, int n) {
  if (!r.is(n, "conv") && !r.is(n, "average_pool") && !r.is(n, "max_pool")) return false;
  const auto pad = spatial_pad(r, r.maker(r.input(n, 0)));
  const Attrs& attrs = r.node(n).attrs;
  const std::string automatic = attrs.string("auto_pad", "NOTSET");
  if (!pad || (automatic != "NOTSET" && automatic != "VALID") || attrs.string("layout", "nchw") != "nchw") return false;
  const size_t spatial = pad->begin.size();
  auto pads = attrs.integers("pads", std::vector<int64_t>(2 * spatial, 0));
  if (automatic == "VALID") pads.assign(2 * spatial, 0);
  if (pads.size() != 2 * spatial || !may_take(r, n, *pad, pads)) return false;
  for (size_t i = 0; i < spatial; ++i) {
    pads[i] += pad->begin[i];
    pads[i + spatial] += pad->end[i];
  }
  std::vector<ValueId> inputs = r.node(n).inputs;
  inputs[0] = pad->x;
  r.set_inputs(n, std::move(inputs));
  r.erase_attr(n, "auto_pad");
  r.set_attr(n, "pads", std::move(pads));
  if (r.is(n, "average_pool")) r.set_attr(n, "count_include_pad", int64_t{1});
  return true;
}

}  // namespace

bool fold_pads(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) fold(r, n);
  return r.finish();
}

}  // namespace trine
