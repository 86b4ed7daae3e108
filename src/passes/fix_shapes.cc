// Shape arithmetic disappears: where inference knows a target shape as expressions, the node that uses it says so
// itself and the nodes that computed it die.
//
//   reshape x (concat (gather (shape x) 0) [12] [64])  ->  reshape x [0,12,64]       constant where 0 and -1 suffice
//                                                      ->  reshape_to x {dims=["a0","12","64*a1"]}
//   expand x shape             ->  expand_to x {dims=...}
//   constant_of_shape shape    ->  expand_to value {dims=...}
//   flatten, squeeze, unsqueeze, and chains of views  ->  one reshape
//
// Symbols that the input does not have are taken from a graph input that does. A node that can still fail at run time
// (axes or a shape given only then, a squeezed axis of open size) stays what it is: a -1 in its place would accept any
// size.
#include <algorithm>

#include "ops/shaped.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

// A constant target for reshape: 0 copies the dimension at the same place, one -1 is what is left. Nothing when the
// shape cannot be written so, or would be ambiguous for an empty tensor.
std::optional<Tensor> constant_target(const Shape& from, const Shape& to) {
  std::vector<int64_t> target;
  int unknown = 0, zeros = 0;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i].is_constant()) {
      zeros += to[i] == Dim(0);
      target.push_back(to[i].value());
    } else if (i < from.rank() && from[i] == to[i]) {
      target.push_back(0);
    } else {
      ++unknown;
      target.push_back(-1);
    }
  }
  if (unknown > 1 || zeros > 0) return std::nullopt;
  if (unknown == 1 && std::count(target.begin(), target.end(), 0) > 0) return std::nullopt;  // 0 * -1 has no answer
  return Tensor::vector_i64(target);
}

// Tensors beside x that lend their sizes: none where x's own dimensions are enough, else one graph input for each
// symbol that x does not have.
std::vector<ValueId> lenders(const Rewriter& r, ValueId x, const Shape& to) {
  std::vector<ValueId> found = {x};
  if (local_dims(to, {r.shape(x)})) return found;
  std::vector<std::string> symbols;
  for (const Dim& d : to.dims()) d.collect_symbols(symbols);
  const auto has = [&](ValueId v, const std::string& symbol) {
    if (r.rank(v) < 0) return false;
    const auto& dims = r.shape(v).dims();
    return std::find(dims.begin(), dims.end(), Dim::symbol(symbol)) != dims.end();
  };
  for (const std::string& s : symbols) {
    if (std::any_of(found.begin(), found.end(), [&](ValueId v) { return has(v, s); })) continue;
    for (ValueId v : r.graph().inputs)
      if (has(v, s)) {
        found.push_back(v);
        break;
      }
  }
  return found;
}

// Rewrites n as `op` of x with dims spelled out; false when a size is known to no tensor.
bool spell_out(Rewriter& r, int n, std::string_view op, ValueId x) {
  const Shape to = r.shape(r.output(n));
  const std::vector<ValueId> inputs = lenders(r, x, to);
  std::vector<Shape> shapes;
  for (ValueId v : inputs) shapes.push_back(r.shape(v));
  const auto dims = local_dims(to, shapes);
  if (!dims || inputs.size() > 26) return false;
  Attrs attrs;
  attrs.set("dims", *dims);
  r.rewrite(n, op, inputs, std::move(attrs));
  return true;
}

bool is_reshape(const Rewriter& r, int n) {
  for (std::string_view op : {"reshape", "reshape_to", "flatten", "squeeze", "unsqueeze"})
    if (r.is(n, op)) return true;
  return false;
}

bool is_known(const Rewriter& r, ValueId v) { return v == kNoValue || r.is_constant(v) || r.graph().value(v).content; }

// Nothing at run time makes n fail: its axes or shape are known, and it has as many elements as its input, whatever the
// symbols are.
bool always_fits(const Rewriter& r, int n) {
  const ValueId x = r.input(n, 0), y = r.output(n);
  return (r.is(n, "reshape_to") || is_known(r, r.input(n, 1))) && r.rank(x) >= 0 && r.rank(y) >= 0 &&
         r.shape(x).elements() == r.shape(y).elements();
}

// The tensor whose elements these are, through any number of reshapes.
ValueId origin(const Rewriter& r, int n) {
  ValueId x = r.input(n, 0);
  while (true) {
    const int m = r.maker(x);
    if (m < 0 || !is_reshape(r, m) || !always_fits(r, m)) return x;
    x = r.input(m, 0);
  }
}

// Elements of the shape that a reshape is given, as far as inference knows them.
std::vector<Dim> given_target(const Rewriter& r, int n) {
  const Value& shape = r.graph().value(r.input(n, 1));
  if (!shape.constant.defined()) return shape.content.value_or(std::vector<Dim>{});
  const std::vector<int64_t> sizes = shape.constant.i64_values();
  return {sizes.begin(), sizes.end()};
}

// `target` works a size out where `given` does, and nowhere else.
bool works_out_the_same(const std::vector<Dim>& given, const std::vector<int64_t>& target) {
  return std::equal(given.begin(), given.end(), target.begin(), target.end(),
                    [](const Dim& a, int64_t b) { return (a == Dim(-1)) == (b == -1); });
}

bool fix_reshape(Rewriter& r, int n) {
  if (!is_reshape(r, n) || r.rank(r.output(n)) < 0) return false;
  const ValueId x = origin(r, n);
  if (r.rank(x) < 0) return false;
  const Shape to = r.shape(r.output(n));
  if (r.shape(x) == to && r.replace(r.output(n), x)) return true;
  auto target = constant_target(r.shape(x), to);
  if (!always_fits(r, n)) {
    if (!r.is(n, "reshape")) return false;
    if (target && !works_out_the_same(given_target(r, n), target->i64_values())) target.reset();
  }
  if (!target) return r.is(n, "reshape_to") && x == r.input(n, 0) ? false : spell_out(r, n, "reshape_to", x);
  if (r.is(n, "reshape") && x == r.input(n, 0) && r.is_constant(r.input(n, 1)) &&
      r.constant(r.input(n, 1)).i64_values() == target->i64_values())
    return false;
  r.rewrite(n, "reshape", {x, r.add_constant(*target)});
  return true;
}

bool fix_expand(Rewriter& r, int n) {
  if (!r.is(n, "expand") || r.rank(r.output(n)) < 0 || r.rank(r.input(n, 0)) < 0 || !expands_for_sure(r, n))
    return false;
  return spell_out(r, n, "expand_to", r.input(n, 0));
}

bool fix_filled(Rewriter& r, int n) {
  if (!r.is(n, "constant_of_shape") || r.rank(r.output(n)) < 0 || r.is_constant(r.input(n, 0))) return false;
  const Tensor* value = r.node(n).attrs.tensor("value");
  const ValueId x = r.add_constant(value ? value->reshaped({}) : Tensor::scalar_f32(0));
  return spell_out(r, n, "expand_to", x);
}

}  // namespace

bool fix_shapes(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) {
    if (!r.node(n).op) continue;
    fix_reshape(r, n) || fix_expand(r, n) || fix_filled(r, n);
  }
  return r.finish();
}

}  // namespace trine
