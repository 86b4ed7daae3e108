// A convolution whose large windows lie side by side, of few channels (the first step of a vision transformer), is a
// product of patches:
//
//   conv(x [N,C,H,W], w [M,C,h,w], b) {strides = h,w}  ->  patches [N, H/h W/w, C h w] x w + b
//
// Products of long rows have faster kernels than windows of three channels.
#include <algorithm>

#include "passes/match.h"
#include "passes/passes.h"
#include "passes/permute.h"

namespace trine {
namespace {

constexpr int64_t kManyChannels = 8, kLargeWindow = 8;  // shorter windows have a kernel of their own (conv_stem.cu)

struct Patches {
  int64_t channels, down, across, height, width;  // counts of patches, then the size of each
};

bool is_plain(const Rewriter& r, int n) {
  const Attrs& attrs = r.node(n).attrs;
  const auto all_are = [&](std::string_view name, int64_t wanted) {
    const auto values = attrs.integers(name);
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
  };
  return r.input(n, 3) == kNoValue && !attrs.has("activation") && all_are("pads", 0) && all_are("dilations", 1) &&
         attrs.integer("group", 1) == 1 && attrs.string("auto_pad", "NOTSET") == "NOTSET" &&
         attrs.string("layout", "nchw") == "nchw";
}

std::optional<Patches> patches_of(const Rewriter& r, int n) {
  const ValueId x = r.input(n, 0), w = r.input(n, 1);
  if (!r.is(n, "conv") || r.rank(x) != 4 || !r.is_constant(w) || !is_plain(r, n)) return std::nullopt;
  const auto channels = r.shape(x)[1].constant(), height = r.shape(x)[2].constant(), width = r.shape(x)[3].constant();
  const Tensor& weights = r.constant(w);
  const auto strides = r.node(n).attrs.integers("strides");
  if (!channels || !height || !width || weights.dim(1) != *channels || *channels >= kManyChannels) return std::nullopt;
  const int64_t h = weights.dim(2), w_size = weights.dim(3);
  if (strides != std::vector<int64_t>{h, w_size} || std::min(h, w_size) < kLargeWindow) return std::nullopt;
  if (*height < h || *width < w_size || *height % h || *width % w_size) return std::nullopt;
  return Patches{*channels, *height / h, *width / w_size, h, w_size};
}

ValueId reshaped(Rewriter& r, ValueId v, const std::vector<int64_t>& dims) {
  return r.add("reshape", {v, r.add_constant(Tensor::vector_i64(dims))});
}

void multiply(Rewriter& r, int n, const Patches& p) {
  const Tensor& weights = r.constant(r.input(n, 1));
  const int64_t outputs = weights.dim(0), depth = p.channels * p.height * p.width;
  const ValueId tiles = reshaped(r, r.input(n, 0), {-1, p.channels, p.down, p.height, p.across, p.width});
  const ValueId moved = add_transpose(r, tiles, {0, 2, 4, 1, 3, 5});
  const ValueId rows = reshaped(r, moved, {-1, p.down * p.across, depth});
  const ValueId columns = add_transpose(r, reshaped(r, r.input(n, 1), {outputs, depth}), {1, 0});
  ValueId y = r.add("matmul", {rows, columns}, {}, {n});
  if (const ValueId bias = r.input(n, 2); bias != kNoValue) y = r.add("add", {y, bias});
  become_transpose(r, n, reshaped(r, y, {-1, p.down, p.across, outputs}), to_nchw(4));
}

}  // namespace

bool multiply_patches(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0, count = r.size(); n < count; ++n)
    if (const auto patches = patches_of(r, n)) multiply(r, n, *patches);
  return r.finish();
}

}  // namespace trine
