// Parts of what a transpose leaves are taken before it: then they are read where they lie, and each is moved once, to
// where its reader wants it, instead of all at once and some again.
//
//   split(reshape(transpose(x [N,H,W,2,C]) [N,H,W,2C]); C, C)  ->  reshape(transpose(each of split(x; C/2, C/2)))
//
// y = transpose(x, p), z = reshape(y): an axis of z begins a group of axes (axis_groups) whose first axis in y is one
// of x; a part that ends between two of its indices is a part of x along it.
#include <algorithm>

#include "ops/shaped.h"
#include "passes/sink.h"

namespace trine {
namespace {

struct Part {
  ValueId value;        // of z
  int64_t begin, size;  // along an axis of y
};

// What a reader of z takes.
struct Taken {
  int reader, axis;  // of y
  std::vector<Part> parts;
};

// The axis along which split or slice n takes parts and where the first begins.
struct Cut {
  int64_t axis, begin;
};
std::optional<Cut> cut_of(const Rewriter& r, int n) {
  const int rank = r.rank(r.input(n, 0));
  const auto normal = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  if (r.is(n, "split")) return Cut{normal(r.node(n).attrs.integer("axis")), 0};
  if (!r.is(n, "slice")) return std::nullopt;
  const auto starts = r.integers(n, 1), axes = r.integers(n, 3), steps = r.integers(n, 4);
  if (!starts || starts->size() != 1 || !axes || axes->size() != 1) return std::nullopt;
  if (r.input(n, 4) != kNoValue && steps != std::vector<int64_t>{1}) return std::nullopt;
  return Cut{normal((*axes)[0]), (*starts)[0]};
}

// Elements behind the first of axes [from, to).
Dim behind(const Shape& s, int from, int to) {
  Dim count = 1;
  for (int i = from + 1; i < to; ++i) count = count * s[i];
  return count;
}

// The parts as indices of y's axis: `num` / `den` of them for each of z's.
std::optional<std::vector<Part>> parts_of(const Rewriter& r, int n, const Cut& cut, int64_t num, int64_t den) {
  const auto axis = static_cast<int>(cut.axis);
  const auto whole = r.shape(r.input(n, 0))[axis].constant();
  if (!whole) return std::nullopt;
  int64_t at = cut.begin < 0 ? cut.begin + *whole : cut.begin;
  std::vector<Part> parts;
  for (ValueId v : r.node(n).outputs) {
    const auto size = v == kNoValue ? std::nullopt : r.shape(v)[axis].constant();
    if (!size || at < 0 || *size < 1 || *size > *whole - at) return std::nullopt;
    if (at * num % den != 0 || *size * num % den != 0) return std::nullopt;
    parts.push_back({v, at * num / den, *size * num / den});
    at += *size;
  }
  return parts;
}

std::optional<Taken> taken_by(const Rewriter& r, int n, const std::vector<AxisGroup>& groups, ValueId y, ValueId z) {
  const auto cut = r.input(n, 0) == z ? cut_of(r, n) : std::nullopt;
  const auto group = std::find_if(groups.begin(), groups.end(), [&](const AxisGroup& g) {
    return cut && g.out_from == cut->axis && g.from < g.to && g.out_from < g.out_to;
  });
  if (group == groups.end()) return std::nullopt;
  // Parts along the outermost axis are runs of bytes as they are.
  const auto& dims = r.shape(z).dims();
  if (std::all_of(dims.begin(), dims.begin() + cut->axis, [](const Dim& d) { return d == Dim(1); }))
    return std::nullopt;
  const auto num = behind(r.shape(z), group->out_from, group->out_to).constant();
  const auto den = behind(r.shape(y), group->from, group->to).constant();
  if (!num || !den || *num < 1 || *den < 1) return std::nullopt;
  auto parts = parts_of(r, n, *cut, *num, *den);
  return parts ? std::optional(Taken{n, group->from, std::move(*parts)}) : std::nullopt;
}

// The parts of x.
std::vector<ValueId> cut(Rewriter& r, ValueId x, int64_t axis, const Taken& t) {
  const auto list = [&](std::vector<int64_t> values) { return r.add_constant(Tensor::vector_i64(values)); };
  if (r.is(t.reader, "slice")) {
    const Part& p = t.parts[0];
    return {r.add("slice", {x, list({p.begin}), list({p.begin + p.size}), list({axis})}, {}, {t.reader})};
  }
  std::vector<int64_t> sizes;
  for (const Part& p : t.parts) sizes.push_back(p.size);
  Attrs attrs;
  attrs.set("axis", axis);
  const ValueId first = r.add("split", {x, list(sizes)}, attrs, {t.reader}, static_cast<int>(sizes.size()));
  return r.node(r.maker(first)).outputs;
}

}  // namespace

bool take_parts_first(Rewriter& r, int n) {
  if (!r.is(n, "reshape") && !r.is(n, "reshape_to")) return false;
  const ValueId y = r.input(n, 0), z = r.output(n);
  const Perm p = perm_of_value(r, y);
  if (p.empty() || r.rank(z) < 0 || !r.used_once(y) || r.is_output(z) || r.readers(z).empty()) return false;
  const auto groups = axis_groups(r.shape(y), r.shape(z));
  if (!groups || !local_dims(r.shape(z), {r.shape(y)})) return false;
  std::vector<Taken> all;
  for (int reader : r.readers(z)) {
    auto taken = taken_by(r, reader, *groups, y, z);
    if (!taken) return false;
    all.push_back(std::move(*taken));
  }
  const ValueId x = r.input(r.maker(y), 0);
  for (const Taken& t : all) {
    const std::vector<ValueId> pieces = cut(r, x, p[static_cast<size_t>(t.axis)], t);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const ValueId turned = add_transpose(r, pieces[i], p);
      Attrs attrs;
      attrs.set("dims", *local_dims(r.shape(t.parts[i].value), {r.shape(turned)}));
      r.make(t.parts[i].value, "reshape_to", {turned}, std::move(attrs));
    }
  }
  return true;
}

}  // namespace trine
