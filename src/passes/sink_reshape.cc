// Transposes past reshapes that split axes or merge neighbours.
//
//   y = transpose(x, p), z = reshape(y): y's and z's axes fall into groups of equal size, and the reshape only regroups
//   within each. Where the axes of every group follow each other in x too, the groups can be permuted afterwards:
//
//     x [N,H,W,C] -> y [N,C,H,W] -> z [N,2,C/2,H,W]   =   x -> [N,H,W,2,C/2] -> transpose
//
//   Where a group's axes stand elsewhere in x (the second half of a channel shuffle), x is first put in an order in
//   which they do; that only pays when what remains is the way back from nhwc, which the next convolution undoes.
#include <algorithm>
#include <numeric>

#include "ops/shaped.h"
#include "passes/sink.h"

namespace trine {

std::optional<std::vector<AxisGroup>> axis_groups(const Shape& y, const Shape& z) {
  std::vector<AxisGroup> groups;
  int i = 0, o = 0;
  while (i < y.rank() || o < z.rank()) {
    AxisGroup g{i, i, o, o};
    const bool y_is_one = i < y.rank() && y[i] == Dim(1), z_is_one = o < z.rank() && z[o] == Dim(1);
    if (y_is_one && !z_is_one) {
      ++i;
    } else if (z_is_one && !y_is_one) {
      ++o;
    } else {
      if (i == y.rank() || o == z.rank()) return std::nullopt;
      Dim a = y[i++], b = z[o++];
      while (a != b) {
        const bool known = a.is_constant() && b.is_constant();
        const bool grow_y = known ? a.value() < b.value() : y.rank() - i > z.rank() - o;
        if (grow_y ? i == y.rank() : o == z.rank()) return std::nullopt;
        if (grow_y) a = a * y[i++];
        else b = b * z[o++];
      }
    }
    g.to = i;
    g.out_to = o;
    groups.push_back(g);
  }
  return groups;
}

namespace {

// Groups in the order in which their first axes stand in x; empty groups of y (axes of size 1 of z) stay behind their
// neighbour.
std::vector<size_t> order_in_x(const std::vector<AxisGroup>& groups, const Perm& p) {
  std::vector<int64_t> key(groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    key[i] = groups[i].to > groups[i].from ? *std::min_element(p.begin() + groups[i].from, p.begin() + groups[i].to)
             : i > 0                       ? key[i - 1]
                                           : -1;
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key[a] < key[b]; });
  return order;
}

// Does a reader of v want it in nhwc, at once or after nodes that let a transpose pass?
bool wanted_in_nhwc(const Rewriter& r, ValueId v, int depth = 0) {
  const Perm wanted = to_nhwc(r.rank(v));
  for (int n : r.readers(v)) {
    if (perm_of(r, n) == wanted) return true;
    const bool passes = r.node(n).op->elementwise || r.is(n, "split") || r.is(n, "concat") || r.is(n, "slice");
    if (!passes || depth == 3) continue;
    for (ValueId y : r.node(n).outputs)
      if (y != kNoValue && r.rank(y) == r.rank(v) && wanted_in_nhwc(r, y, depth + 1)) return true;
  }
  return false;
}

}  // namespace

bool sink_through_reshape(Rewriter& r, int n) {
  if (!r.is(n, "reshape") && !r.is(n, "reshape_to")) return false;
  const ValueId y = r.input(n, 0), z = r.output(n);
  const Perm p = perm_of_value(r, y);
  if (p.empty() || r.rank(y) != static_cast<int>(p.size()) || r.rank(z) < 0) return false;
  const auto groups = axis_groups(r.shape(y), r.shape(z));
  if (!groups) return false;
  const std::vector<size_t> order = order_in_x(*groups, p);
  Perm rearranged, restored;  // x -> groups together;  new z -> z
  std::vector<int64_t> position(static_cast<size_t>(r.rank(z)));
  std::vector<Dim> dims;
  for (size_t i : order) {
    const AxisGroup& g = (*groups)[i];
    rearranged.insert(rearranged.end(), p.begin() + g.from, p.begin() + g.to);
    for (int axis = g.out_from; axis < g.out_to; ++axis) {
      position[static_cast<size_t>(axis)] = static_cast<int64_t>(dims.size());
      dims.push_back(r.shape(z)[axis]);
    }
  }
  restored.assign(position.begin(), position.end());
  const bool together = is_identity(rearranged);
  const bool pays = together || (r.rank(z) >= 4 && restored == to_nchw(r.rank(z)) && wanted_in_nhwc(r, z));
  if (!pays) return false;
  const ValueId x = r.input(r.maker(y), 0);
  Shape moved_from = r.shape(x);
  if (!together)
    for (size_t i = 0; i < rearranged.size(); ++i)
      moved_from[static_cast<int>(i)] = r.shape(x)[static_cast<int>(rearranged[i])];
  const auto local = local_dims(Shape(dims), {moved_from});
  if (!local) return false;
  Attrs attrs;
  attrs.set("dims", *local);
  const ValueId source = together ? x : add_transpose(r, x, rearranged);
  const ValueId made = r.add("reshape_to", {source}, std::move(attrs), {n});
  if (is_identity(restored)) r.define(z, made);
  else become_transpose(r, n, made, restored);
  return true;
}

}  // namespace trine
