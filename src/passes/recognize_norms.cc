// Normalisations that exporters spell out, over trailing axes:
//
//   d = x - mean(x);  v = mean(d^2);  d / sqrt(v + eps) * scale + bias     -> layer_normalization
//   x / sqrt(mean(x^2) + eps) * scale                                      -> rms_normalization
//
// "/ sqrt(u)" may be "* reciprocal(sqrt(u))" or "* u^-1/2" too; squares may be pow(d, 2) or d * d. The fused node keeps
// its sums in f32: decomposed in f16, d^2 overflows from |d| = 256 on and the result would be 0 without a sign of it.
#include <algorithm>
#include <cmath>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

// Trailing axes [first, rank) that node n averages over, keeping dimensions; nothing when it does something else.
std::optional<int> trailing_mean(const Rewriter& r, int n) {
  if (!r.is(n, "reduce_mean") || r.node(n).attrs.integer("keepdims", 1) == 0) return std::nullopt;
  const int rank = r.rank(r.input(n, 0));
  auto axes = r.integers(n, 1);
  if (!axes || axes->empty() || rank <= 0) return std::nullopt;
  for (int64_t& a : *axes) a = a < 0 ? a + rank : a;
  std::sort(axes->begin(), axes->end());
  for (size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != rank - static_cast<int64_t>(axes->size() - i)) return std::nullopt;
  return static_cast<int>((*axes)[0]);
}

// d where v = d^2.
ValueId root_of(const Rewriter& r, ValueId v) {
  const int n = r.maker(v);
  if (r.is(n, "mul") && r.input(n, 0) == r.input(n, 1)) return r.input(n, 0);
  return r.is(n, "pow") && r.number(r.input(n, 1)) == 2.0 ? r.input(n, 0) : kNoValue;
}

// u where v = 1 / sqrt(u).
ValueId under_inverse_root(const Rewriter& r, ValueId v) {
  int n = r.maker(v);
  if (r.is(n, "pow") && r.number(r.input(n, 1)) == -0.5) return r.input(n, 0);
  ValueId root = kNoValue;
  if (r.is(n, "reciprocal")) root = r.input(n, 0);
  if (r.is(n, "div") && r.number(r.input(n, 0)) == 1.0) root = r.input(n, 1);
  n = r.made_by(root, "sqrt");
  return n < 0 ? kNoValue : r.input(n, 0);
}

// Numerator and u where n computes numerator / sqrt(u).
struct Quotient {
  ValueId numerator, u;
};
std::optional<Quotient> over_root(const Rewriter& r, int n) {
  if (r.is(n, "div")) {
    const int root = r.made_by(r.input(n, 1), "sqrt");
    if (root >= 0) return Quotient{r.input(n, 0), r.input(root, 0)};
  }
  if (r.is(n, "mul"))
    for (int i : {0, 1})
      if (const ValueId u = under_inverse_root(r, r.input(n, i)); u != kNoValue) return Quotient{r.input(n, 1 - i), u};
  return std::nullopt;
}

struct Norm {
  ValueId x;
  int axis;
  double epsilon;
  bool centred;
  std::vector<int> nodes;
};

// mean(d^2) + epsilon, d being the numerator.
std::optional<Norm> norm_of(const Rewriter& r, int n) {
  const auto q = over_root(r, n);
  const int sum = q ? r.made_by(q->u, "add") : -1;
  const auto shifted = r.with_number(sum);
  const int mean = shifted ? r.maker(shifted->value) : -1;
  const auto axis = trailing_mean(r, mean);
  if (!axis || root_of(r, r.input(mean, 0)) != q->numerator || !is_float(r.dtype(q->numerator))) return std::nullopt;
  Norm norm{q->numerator, *axis, shifted->number, false, {n, sum, mean}};
  const int difference = r.made_by(q->numerator, "sub");
  if (difference >= 0) {
    const int centre = r.maker(r.input(difference, 1));
    if (trailing_mean(r, centre) == axis && r.input(centre, 0) == r.input(difference, 0)) {
      norm.x = r.input(difference, 0);
      norm.centred = true;
      norm.nodes.insert(norm.nodes.end(), {difference, centre});
    }
  }
  if (r.type(norm.x) != r.type(r.output(n))) return std::nullopt;
  return norm;
}

// Whether v is a parameter: it repeats along the leading axes and has x's type.
bool is_parameter(const Rewriter& r, ValueId v, const Norm& norm) {
  const int rank = r.rank(norm.x), own = r.rank(v);
  if (own < 0 || own > rank || r.dtype(v) != r.dtype(norm.x)) return false;
  for (int i = 0; i < own; ++i) {
    const int at = i + rank - own;
    const Dim& d = r.shape(v)[i];
    if (at < norm.axis ? d != Dim(1) : d != r.shape(norm.x)[at]) return false;
  }
  return own == rank - norm.axis || own == rank;
}

// The one reader of v that is `op` with a parameter as its other input.
int next_step(const Rewriter& r, ValueId v, std::string_view op, const Norm& norm) {
  if (!r.used_once(v)) return -1;
  const int n = r.readers(v)[0];
  return r.is(n, op) && r.input(n, 0) != r.input(n, 1) && is_parameter(r, r.other_input(n, v), norm) ? n : -1;
}

// A parameter as the operator takes it, without leading dimensions of 1.
ValueId shaped(Rewriter& r, ValueId v, const Norm& norm) {
  const int rank = r.rank(norm.x);
  if (r.rank(v) != rank || norm.axis == 0) return v;
  std::vector<std::string> dims;
  Attrs attrs;
  for (int i = norm.axis; i < rank; ++i) dims.push_back("a" + std::to_string(i));
  attrs.set("dims", dims);
  return r.add("reshape_to", {v}, attrs);
}

// Ones over the normalised axes, when their sizes are known.
ValueId ones(Rewriter& r, const Norm& norm) {
  const auto& dims = r.shape(norm.x).dims();
  const Shape shape(std::vector<Dim>(dims.begin() + norm.axis, dims.end()));
  if (!shape.is_static()) return kNoValue;
  const Dims sizes = shape.static_dims();
  return r.add_constant(
      Tensor::from_f64(r.dtype(norm.x), sizes, std::vector<double>(static_cast<size_t>(element_count(sizes)), 1.0)));
}

bool recognize(Rewriter& r, int n) {
  auto norm = r.node(n).op ? norm_of(r, n) : std::nullopt;
  if (!norm) return false;
  int last = n;
  ValueId scale = kNoValue, bias = kNoValue;
  if (const int times = next_step(r, r.output(n), "mul", *norm); times >= 0) {
    scale = shaped(r, r.other_input(times, r.output(n)), *norm);
    last = times;
  }
  if (const int plus = next_step(r, r.output(last), "add", *norm); plus >= 0 && norm->centred) {
    bias = shaped(r, r.other_input(plus, r.output(last)), *norm);
    norm->nodes.push_back(last);
    last = plus;
  }
  if (scale == kNoValue) scale = ones(r, *norm);
  if (scale == kNoValue) return false;
  Attrs attrs;
  attrs.set("axis", int64_t{norm->axis - r.rank(norm->x)});
  attrs.set("epsilon", norm->epsilon);
  std::vector<ValueId> inputs = {norm->x, scale};
  if (bias != kNoValue) inputs.push_back(bias);
  r.rewrite(last, norm->centred ? "layer_normalization" : "rms_normalization", inputs, attrs, norm->nodes);
  return true;
}

}  // namespace

bool recognize_norms(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) recognize(r, n);
  return r.finish();
}

}  // namespace trine
