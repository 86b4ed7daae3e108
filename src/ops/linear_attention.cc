// LinearAttention: attention as a recurrence over a state S [d_k, d_v] per (batch, key/value head):
//   S = exp(g) * S           (gated, gated_delta)
//   v = beta * (v - S^T k)   (delta, gated_delta)
//   S = S + k v^T;  o = scale * S^T q
// Query head h reads state h / (q_heads / kv_heads). Inputs are [B,T,H*D]; the state is [B,Hkv,d_k,d_v].
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"

namespace trine {
namespace {

struct Heads {
  int64_t q, kv;
  bool gated, delta;
};

Heads heads_of(const Node& node) {
  Heads h{node.attrs.integer("q_num_heads"), node.attrs.integer("kv_num_heads"), false, false};
  require(node, h.q >= 1 && h.kv >= 1 && h.q <= INT32_MAX && h.q % h.kv == 0,
          fmt::format("q_num_heads {}, kv_num_heads {}; want a positive multiple", h.q, h.kv));
  const std::string rule = node.attrs.string("update_rule", "gated_delta");
  require(node, rule == "linear" || rule == "gated" || rule == "delta" || rule == "gated_delta",
          fmt::format("update_rule '{}'; want linear, gated, delta or gated_delta", rule));
  h.gated = rule.starts_with("gated");
  h.delta = rule.ends_with("delta");
  return h;
}

void linear_attention_infer(InferContext& c) {
  const Heads h = heads_of(c.node());
  for (int i : {0, 1, 2}) c.need_rank(i, 3);
  const Shape &q = c.shape(0), &v = c.shape(2);
  const DType state = c.has(3) ? c.dtype(3) : c.dtype(0);
  if (!q.has_rank() || !v.has_rank()) {
    c.set(0, c.dtype(0), c.fresh_shape(3));
    return c.set(1, state, c.fresh_shape(4));
  }
  const Dim d_k = floor_div(q[2], h.q), d_v = floor_div(v[2], h.kv);
  c.set(0, c.dtype(0), Shape{q[0], q[1], d_v * h.q});
  c.set(1, state, Shape{q[0], h.kv, d_k, d_v});
}

struct Linear {
  Heads heads;
  int64_t batch, steps, d_k, d_v;
  std::vector<double> q, k, v, decay, beta;
  int64_t decay_width = 0, beta_width = 0;  // last dimension; decay: Hkv or Hkv*d_k, beta: Hkv or 1
  double scale;
};

// Optional gate input [B,T,width] with one of two widths.
std::vector<double> gate(EvalContext& c, const Linear& l, int input, bool wanted, int64_t wide, int64_t narrow,
                         int64_t& width) {
  require(c.node(), c.has(input) == wanted,
          fmt::format("input {} is {} for this update_rule", input, wanted ? "missing" : "not accepted"));
  if (!wanted) return {};
  const Tensor& t = c.tensor(input);
  const bool fits =
      t.rank() == 3 && t.dim(0) == l.batch && t.dim(1) == l.steps && (t.dim(2) == wide || t.dim(2) == narrow);
  require(c.node(), fits,
          fmt::format("input {} is {}; want [{},{},{} or {}]", input, t.type_text(), l.batch, l.steps, narrow, wide));
  width = t.dim(2);
  return t.f64_values();
}

Linear read(EvalContext& c) {
  const Tensor &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  Linear l{};
  l.heads = heads_of(c.node());
  require(c.node(), q.rank() == 3 && k.rank() == 3 && v.rank() == 3,
          fmt::format("query is {}, key {}, value {}; want three dimensions each", q.type_text(), k.type_text(),
                      v.type_text()));
  l.batch = q.dim(0), l.steps = q.dim(1);
  l.d_k = q.dim(2) / l.heads.q, l.d_v = v.dim(2) / l.heads.kv;
  require(c.node(),
          q.dim(2) == l.heads.q * l.d_k && k.dims() == Dims({l.batch, l.steps, l.heads.kv * l.d_k}) &&
              v.dims() == Dims({l.batch, l.steps, l.heads.kv * l.d_v}),
          fmt::format("query is {}, key {}, value {} for {} and {} heads", q.type_text(), k.type_text(), v.type_text(),
                      l.heads.q, l.heads.kv));
  l.q = q.f64_values(), l.k = k.f64_values(), l.v = v.f64_values();
  l.decay = gate(c, l, 4, l.heads.gated, l.heads.kv * l.d_k, l.heads.kv, l.decay_width);
  l.beta = gate(c, l, 5, l.heads.delta, l.heads.kv, 1, l.beta_width);
  const double scale = c.attrs().real("scale");
  l.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(l.d_k));
  return l;
}

// One token of one state.
void update(const Linear& l, int64_t row, int64_t h, double* state) {
  const double* k = l.k.data() + (row * l.heads.kv + h) * l.d_k;
  std::vector<double> v(l.v.begin() + (row * l.heads.kv + h) * l.d_v, l.v.begin() + (row * l.heads.kv + h + 1) * l.d_v);
  if (l.heads.gated)
    for (int64_t i = 0; i < l.d_k; ++i) {
      const int64_t at = l.decay_width == l.heads.kv ? h : h * l.d_k + i;
      const double factor = std::exp(l.decay[static_cast<size_t>(row * l.decay_width + at)]);
      for (int64_t j = 0; j < l.d_v; ++j) state[i * l.d_v + j] *= factor;
    }
  if (l.heads.delta) {
    const double beta = l.beta[static_cast<size_t>(row * l.beta_width + (l.beta_width == 1 ? 0 : h))];
    for (int64_t j = 0; j < l.d_v; ++j) {
      double known = 0;
      for (int64_t i = 0; i < l.d_k; ++i) known += state[i * l.d_v + j] * k[i];
      v[static_cast<size_t>(j)] = beta * (v[static_cast<size_t>(j)] - known);
    }
  }
  for (int64_t i = 0; i < l.d_k; ++i)
    for (int64_t j = 0; j < l.d_v; ++j) state[i * l.d_v + j] += k[i] * v[static_cast<size_t>(j)];
}

void linear_attention_reference(EvalContext& c) {
  const Linear l = read(c);
  const Dims state_dims = {l.batch, l.heads.kv, l.d_k, l.d_v};
  std::vector<double> state(value_count(state_dims), 0.0);
  if (c.has(3)) {
    require(c.node(), c.tensor(3).dims() == state_dims,
            fmt::format("past_state is {}; want [{}]", c.tensor(3).type_text(), to_string(state_dims)));
    state = c.tensor(3).f64_values();
  }
  const Dims out = {l.batch, l.steps, l.heads.q * l.d_v};
  std::vector<double> y(value_count(out), 0.0);
  const int64_t group = l.heads.q / l.heads.kv;
  for (int64_t row = 0; row < l.batch * l.steps; ++row)
    for (int64_t h = 0; h < l.heads.kv; ++h) {
      double* s = state.data() + (row / l.steps * l.heads.kv + h) * l.d_k * l.d_v;
      update(l, row, h, s);
      for (int64_t g = h * group; g < (h + 1) * group; ++g)
        for (int64_t i = 0; i < l.d_k; ++i) {
          const double q = l.scale * l.q[static_cast<size_t>((row * l.heads.q + g) * l.d_k + i)];
          for (int64_t j = 0; j < l.d_v; ++j)
            y[static_cast<size_t>((row * l.heads.q + g) * l.d_v + j)] += q * s[i * l.d_v + j];
        }
    }
  c.set(0, Tensor::from_f64(c.tensor(0).dtype(), out, y));
  c.set(1, Tensor::from_f64(c.has(3) ? c.tensor(3).dtype() : c.tensor(0).dtype(), state_dims, state));
}

const OpDef op_linear_attention = {
    .name = "linear_attention",
    .onnx = "LinearAttention",
    .doc = "attention as a recurrence over a key-value state: linear, gated, delta or gated_delta",
    .types = "Tf T T Uf T T",
    .min_inputs = 3,
    .max_inputs = 6,
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = linear_attention_infer,
    .reference = linear_attention_reference,
};
const RegisterOp register_linear_attention(op_linear_attention);

}  // namespace
}  // namespace trine
