// Activations that exporters spell out:
//
//   x/2 (1 + erf(x / sqrt 2))                                -> gelu
//   x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))            -> gelu {approximate="tanh"}
//   x sigmoid(a x)                                           -> swish {alpha=a}
//   clip(a x + b, 0, h) / h                                  -> hard_sigmoid
//   x hard_sigmoid(x; 1/6, 1/2), x clip(x + 3, 0, 6) / 6     -> hard_swish
//   x tanh(softplus(x))                                      -> mish
//
// Constants must agree to the digits that the type holds. One node rounds once where the chain rounded several times.
#include <cmath>
#include <numbers>

#include "passes/expression.h"
#include "passes/passes.h"

namespace trine {
namespace {

struct Candidate {
  const Rewriter& r;
  ValueId x;      // the plain factor
  int gate;       // node that makes the other factor
  double number;  // of the product
  DType type;
};

struct Found {
  std::string_view op;
  Attrs attrs;
};
using Rule = std::optional<Found> (*)(const Candidate& c);

// Input of the node that makes `v` when it is `op`; else kNoValue.
ValueId under(const Rewriter& r, std::string_view op, ValueId v) {
  const int n = r.made_by(v, op);
  return n < 0 ? kNoValue : r.input(n, 0);
}

// The argument of f in a gate 1 + f(...).
ValueId one_plus(const Candidate& c, std::string_view f) {
  const auto sum = c.r.is(c.gate, "add") ? c.r.with_number(c.gate) : std::nullopt;
  return sum && sum->number == 1 ? under(c.r, f, sum->value) : kNoValue;
}

bool is_linear(const Candidate& c, ValueId v, double constant, double slope) {
  const auto p = v == kNoValue ? std::nullopt : polynomial(c.r, v, c.x);
  return p && is_near((*p)[1], slope, c.type) && is_near((*p)[0], constant, c.type) && (*p)[2] == 0 && (*p)[3] == 0;
}

std::optional<Found> gelu_erf(const Candidate& c) {
  if (!is_near(c.number, 0.5, c.type) || !is_linear(c, one_plus(c, "erf"), 0, 1 / std::numbers::sqrt2))
    return std::nullopt;
  return Found{"gelu", {}};
}

std::optional<Found> gelu_tanh(const Candidate& c) {
  const ValueId v = one_plus(c, "tanh");
  const auto p = v == kNoValue ? std::nullopt : polynomial(c.r, v, c.x);
  const double slope = std::sqrt(2 / std::numbers::pi);
  if (!p || !is_near(c.number, 0.5, c.type) || (*p)[0] != 0 || (*p)[2] != 0) return std::nullopt;
  if (!is_near((*p)[1], slope, c.type) || !is_near((*p)[3], slope * 0.044715, c.type)) return std::nullopt;
  Found found{"gelu", {}};
  found.attrs.set("approximate", std::string("tanh"));
  return found;
}

std::optional<Found> swish(const Candidate& c) {
  if (c.number != 1 || !c.r.is(c.gate, "sigmoid")) return std::nullopt;
  const auto p = polynomial(c.r, c.r.input(c.gate, 0), c.x);
  if (!p || (*p)[0] != 0 || (*p)[2] != 0 || (*p)[3] != 0 || (*p)[1] == 0) return std::nullopt;
  Found found{"swish", {}};
  if ((*p)[1] != 1) found.attrs.set("alpha", (*p)[1]);
  return found;
}

std::optional<Found> mish(const Candidate& c) {
  if (c.number != 1 || !c.r.is(c.gate, "tanh")) return std::nullopt;
  if (under(c.r, "softplus", c.r.input(c.gate, 0)) != c.x) return std::nullopt;
  return Found{"mish", {}};
}

struct Clip {
  ValueId x;
  double low, high;
};
std::optional<Clip> clip_of(const Rewriter& r, int n) {
  if (!r.is(n, "clip")) return std::nullopt;
  const auto low = r.number(r.input(n, 1)), high = r.number(r.input(n, 2));
  if (!low || !high) return std::nullopt;
  return Clip{r.input(n, 0), *low, *high};
}

std::optional<Found> hard_swish(const Candidate& c) {
  if (c.r.is(c.gate, "hard_sigmoid")) {
    const Attrs& a = c.r.node(c.gate).attrs;
    const bool sixth = is_near(a.real("alpha", 0.2), 1.0 / 6, c.type) && is_near(a.real("beta", 0.5), 0.5, c.type);
    return c.number == 1 && sixth && c.r.input(c.gate, 0) == c.x ? std::optional(Found{"hard_swish", {}})
                                                                 : std::nullopt;
  }
  const auto clip = clip_of(c.r, c.gate);
  if (!clip || clip->low != 0 || !(clip->high > 0)) return std::nullopt;
  const double h = clip->high;  // x * clip(h (x/6 + 1/2), 0, h) / h
  if (!is_near(c.number, 1 / h, c.type) || !is_linear(c, clip->x, h / 2, h / 6)) return std::nullopt;
  return Found{"hard_swish", {}};
}

constexpr Rule kRules[] = {gelu_erf, gelu_tanh, swish, mish, hard_swish};

bool recognize_product(Rewriter& r, int n) {
  const auto p = product(r, n, 2);
  if (!p || p->factors.size() != 2) return false;
  for (size_t i : {0, 1}) {
    const ValueId x = p->factors[i];
    const Candidate c{r, x, r.maker(p->factors[1 - i]), p->number, r.dtype(x)};
    if (c.gate < 0 || !is_float(c.type) || r.type(x) != r.type(r.output(n))) continue;
    for (Rule rule : kRules) {
      const auto found = rule(c);
      if (!found) continue;
      r.rewrite(n, found->op, {x}, found->attrs, p->nodes);
      return true;
    }
  }
  return false;
}

// The one value in v's chain of adds and muls with numbers that is not a number.
ValueId variable_of(const Rewriter& r, ValueId v) {
  for (int depth = 0; depth < 4; ++depth) {
    const int n = r.maker(v);
    if (!r.is(n, "add") && !r.is(n, "mul") && !r.is(n, "div") && !r.is(n, "sub")) return v;
    const auto step = r.with_number(n);
    if (!step) return v;
    v = step->value;
  }
  return v;
}

// clip(a x + b, 0, h) / h = max(0, min(1, (a x + b) / h))
bool recognize_hard_sigmoid(Rewriter& r, int n) {
  const auto p = product(r, n, 1);
  if (!p || p->factors.size() != 1) return false;
  const auto clip = clip_of(r, r.maker(p->factors[0]));
  if (!clip || clip->low != 0 || !(clip->high > 0) || !is_near(p->number, 1 / clip->high, r.dtype(clip->x)))
    return false;
  const ValueId x = variable_of(r, clip->x);
  const auto line = polynomial(r, clip->x, x);
  if (!line || (*line)[2] != 0 || (*line)[3] != 0 || r.type(x) != r.type(r.output(n)) || !is_float(r.dtype(x)))
    return false;
  Attrs attrs;
  attrs.set("alpha", (*line)[1] * p->number);
  attrs.set("beta", (*line)[0] * p->number);
  r.rewrite(n, "hard_sigmoid", {x}, std::move(attrs), p->nodes);
  return true;
}

}  // namespace

bool recognize_activations(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n)
    if (r.node(n).op) recognize_product(r, n) || recognize_hard_sigmoid(r, n);
  return r.finish();
}

}  // namespace trine
