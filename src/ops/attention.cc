// Attention (ONNX 23 to 25) and the internal sdpa that passes rewrite attention patterns into.
#include <cmath>
#include <limits>
#include <memory>

#include "graph/infer.h"
#include "ops/attention_core.h"
#include "ops/node_error.h"

namespace trine {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// Operand dimensions, whichever of [B,H,S,D] or [B,S,H*D] they came in.
struct Heads {
  Dim batch, heads, length, size;
};

Heads heads_of(const Node& node, const Shape& s, bool packed, int64_t heads, std::string_view what) {
  require(node, s.rank() == (packed ? 3 : 4),
          fmt::format("{} has shape [{}]; want {}", what, s.text(),
                      packed ? "[batch,length,heads*size]" : "[batch,heads,length,size]"));
  if (!packed) return {s[0], s[1], s[2], s[3]};
  require(node, heads >= 1,
          fmt::format("{} is [{}]: the head counts q_num_heads and kv_num_heads must be given", what, s.text()));
  if (const auto width = s[2].constant())
    require(node, *width % heads == 0,
            fmt::format("{} is [{}]; want a last dimension divisible by {} heads", what, s.text(), heads));
  return {s[0], heads, s[1], floor_div(s[2], heads)};
}

struct Operands {
  bool packed;
  Heads q, k, v;
};

// Sizes that must agree, as far as they are known: kernels rely on it.
void require_same(const Node& node, const Dim& a, const Dim& b, std::string_view what) {
  require(node, !a.is_constant() || !b.is_constant() || a == b,
          fmt::format("query, key and value differ: {} {} and {}", what, a.text(), b.text()));
}

Operands operands_of(const Node& node, const Shape& q, const Shape& k, const Shape& v, int64_t q_heads,
                     int64_t kv_heads) {
  const bool packed = q.rank() == 3;
  Operands o{packed, heads_of(node, q, packed, q_heads, "q"), heads_of(node, k, packed, kv_heads, "k"),
             heads_of(node, v, packed, kv_heads, "v")};
  if (o.q.heads.is_constant() && o.k.heads.is_constant())
    require(node, o.k.heads.value() >= 1 && o.q.heads.value() % o.k.heads.value() == 0,
            fmt::format("{} query heads, {} key/value heads; want a multiple", o.q.heads.text(), o.k.heads.text()));
  require_same(node, o.q.batch, o.k.batch, "batches of");
  require_same(node, o.q.batch, o.v.batch, "batches of");
  require_same(node, o.k.heads, o.v.heads, "key and value heads");
  require_same(node, o.k.length, o.v.length, "keys and values of length");
  require_same(node, o.q.size, o.k.size, "heads of size");
  return o;
}

Operands attention_operands(const Node& node, const Shape& q, const Shape& k, const Shape& v) {
  return operands_of(node, q, k, v, node.attrs.integer("q_num_heads"), node.attrs.integer("kv_num_heads"));
}

Shape output_shape(const Operands& o) {
  return o.packed ? Shape{o.q.batch, o.q.length, o.q.heads * o.v.size}
                  : Shape{o.q.batch, o.q.heads, o.q.length, o.v.size};
}

void attention_infer(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank() || !c.shape(2).has_rank()) {
    for (int i : {0, 1, 2, 3}) c.set(i, c.dtype(i == 2 ? 2 : 0), Shape());
    return;
  }
  const Operands o = attention_operands(c.node(), c.shape(0), c.shape(1), c.shape(2));
  Dim total = o.k.length;
  if (c.has(4)) {
    c.need_rank(4, 4);
    total = c.shape(4).has_rank() ? total + c.shape(4)[2] : c.fresh("total");
  }
  c.set(0, c.dtype(0), output_shape(o));
  c.set(1, c.dtype(1), Shape{o.q.batch, o.k.heads, total, o.k.size});
  c.set(2, c.dtype(2), Shape{o.q.batch, o.v.heads, total, o.v.size});
  c.set(3, c.dtype(0), Shape{o.q.batch, o.q.heads, o.q.length, total});
}

// [B,H,S,D] values of an operand.
std::vector<double> head_values(const Tensor& t, const Heads& h, bool packed) {
  if (!packed) return t.f64_values();
  return split_heads(t.f64_values(), h.batch.value(), h.length.value(), h.heads.value(), h.size.value());
}

AttentionProblem problem_of(const Node& node, const Operands& o, const Tensor& q, const Tensor& k, const Tensor& v) {
  AttentionProblem p;
  p.batch = o.q.batch.value();
  p.q_heads = o.q.heads.value();
  p.kv_heads = o.k.heads.value();
  p.q_len = o.q.length.value();
  p.kv_len = o.k.length.value();
  p.head = o.q.size.value();
  p.v_head = o.v.size.value();
  p.q = head_values(q, o.q, o.packed);
  p.k = head_values(k, o.k, o.packed);
  p.v = head_values(v, o.v, o.packed);
  p.scale = node.attrs.has("scale") ? node.attrs.real("scale") : 1 / std::sqrt(static_cast<double>(p.head));
  p.softcap = node.attrs.real("softcap");
  p.check(node);
  return p;
}

int64_t append_past(EvalContext& c, int input, std::vector<double>& values, int64_t rows, int64_t length,
                    int64_t head) {
  const Tensor& past = c.tensor(input);
  const int64_t past_len = past.rank() == 4 ? past.dim(2) : 0;
  require(c.node(), past.rank() == 4 && past.dim(0) * past.dim(1) == rows && past.dim(3) == head,
          fmt::format("past (input {}) is {}; want [batch,heads,past,{}]", input, past.type_text(), head));
  values = append_cache(past.f64_values(), values, rows, past_len, length, head);
  return past_len;
}

// Which keys a query may see by position: p = i + offset(b); key j in [p - left, p + right] and below kv_valid(b).
struct Visibility {
  int64_t left = -1, right = -1;  // -1: unbounded
  int64_t offset = 0;
  std::vector<int64_t> valid;  // per batch: number of keys that are no padding; empty: all, offset as above

  bool operator()(int64_t b, int64_t i, int64_t j, int64_t q_len) const {
    const int64_t position = i + (valid.empty() ? offset : valid[static_cast<size_t>(b)] - q_len);
    if (!valid.empty() && j >= valid[static_cast<size_t>(b)]) return false;
    return (left < 0 || j >= position - left) && (right < 0 || j <= position + right);
  }
};

Visibility visibility_of(EvalContext& c, int64_t batch, int64_t past) {
  Visibility v;
  v.offset = past;
  v.left = c.attrs().integer("left_window_size", -1);
  v.right = c.attrs().integer("right_window_size", -1);
  require(c.node(), v.left >= -1 && v.right >= -1 && v.left <= INT32_MAX && v.right <= INT32_MAX,
          fmt::format("window sizes {} and {}; want -1 or more", v.left, v.right));
  if (c.attrs().integer("is_causal") != 0) v.right = 0;
  if (c.has(6)) {
    require(c.node(), !c.has(4), "nonpad_kv_seqlen cannot go with past_key");
    v.valid = c.tensor(6).i64_values();
    require(c.node(), static_cast<int64_t>(v.valid.size()) == batch,
            fmt::format("nonpad_kv_seqlen is {}; want [{}]", c.tensor(6).type_text(), batch));
    for (int64_t n : v.valid)
      require(c.node(), n >= 0 && n <= kMaxElements, fmt::format("nonpad_kv_seqlen holds {}", n));
  }
  return v;
}

void set_output(EvalContext& c, const AttentionProblem& p, bool packed, const std::vector<double>& y, DType dtype) {
  if (packed)
    c.set(0, Tensor::from_f64(dtype, {p.batch, p.q_len, p.q_heads * p.v_head},
                              merge_heads(y, p.batch, p.q_len, p.q_heads, p.v_head)));
  else c.set(0, Tensor::from_f64(dtype, {p.batch, p.q_heads, p.q_len, p.v_head}, y));
}

void attention_reference(EvalContext& c) {
  const Tensor &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  const Operands o = attention_operands(c.node(), Shape::from(q.dims()), Shape::from(k.dims()), Shape::from(v.dims()));
  AttentionProblem p = problem_of(c.node(), o, q, k, v);
  require(c.node(), c.has(4) == c.has(5), "past_key and past_value must be given together");
  int64_t past = 0;
  if (c.has(4)) {
    past = append_past(c, 4, p.k, p.batch * p.kv_heads, p.kv_len, p.head);
    require(c.node(), append_past(c, 5, p.v, p.batch * p.kv_heads, p.kv_len, p.v_head) == past,
            "past_key and past_value differ in length");
    p.kv_len += past;
  }
  const Dims scores_dims = {p.batch, p.q_heads, p.q_len, p.kv_len};
  const Visibility visible = visibility_of(c, p.batch, past);
  const AttentionMask mask = c.has(3) ? AttentionMask(c.node(), c.tensor(3), scores_dims, false) : AttentionMask();
  p.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return !visible(b, i, j, p.q_len) ? kHidden : mask.defined() ? mask(b, h, i, j) : 0.0;
  };
  const int64_t mode = c.attrs().integer("qk_matmul_output_mode");
  require(c.node(), mode >= 0 && mode <= 3, fmt::format("qk_matmul_output_mode is {}; want 0 to 3", mode));
  std::vector<double> scores;
  const std::vector<double> y = attend(p, static_cast<ScoreStage>(mode + 1), c.wants(3) ? &scores : nullptr);
  set_output(c, p, o.packed, y, q.dtype());
  if (c.wants(1)) c.set(1, Tensor::from_f64(k.dtype(), {p.batch, p.kv_heads, p.kv_len, p.head}, p.k));
  if (c.wants(2)) c.set(2, Tensor::from_f64(v.dtype(), {p.batch, p.kv_heads, p.kv_len, p.v_head}, p.v));
  if (c.wants(3)) c.set(3, Tensor::from_f64(q.dtype(), scores_dims, scores));
}

const OpDef op_attention = {
    .name = "attention",
    .onnx = "Attention",
    .doc =
        "softmax(softcap(scale * q k^T) + mask) v, with grouped heads, a key/value cache and causal or windowed sight",
    .types = "Tf T Uf fib T U x",
    .min_inputs = 3,
    .max_inputs = 7,
    .min_outputs = 1,
    .max_outputs = 4,
    .infer = attention_infer,
    .reference = attention_reference,
};
const RegisterOp register_attention(op_attention);

// sdpa: q, k, v, [mask broadcasting to B,H,Sq,Skv: boolean keep or additive]
//   layout      "bhsd": [B,H,S,D];  "bshd": [B,S,H*D] with num_heads and kv_num_heads
//   causal      0 none, 1 key <= query, 2 key <= query + Skv - Sq;  scale: default 1/sqrt(D)
Operands sdpa_operands(const Node& node, const Shape& q, const Shape& k, const Shape& v) {
  const std::string layout = node.attrs.string("layout", "bhsd");
  require(node, layout == "bhsd" || layout == "bshd", fmt::format("layout '{}'; want bhsd or bshd", layout));
  require(node, q.rank() == (layout == "bshd" ? 3 : 4), fmt::format("q has shape [{}] in layout {}", q.text(), layout));
  const int64_t heads = node.attrs.integer("num_heads");
  return operands_of(node, q, k, v, heads, node.attrs.integer("kv_num_heads", heads));
}

void sdpa_infer(InferContext& c) {
  const bool known = c.shape(0).has_rank() && c.shape(1).has_rank() && c.shape(2).has_rank();
  if (!known) return c.set(0, c.dtype(0), Shape());
  const Operands o = sdpa_operands(c.node(), c.shape(0), c.shape(1), c.shape(2));
  const Dim scores[] = {o.q.batch, o.q.heads, o.q.length, o.k.length};
  const Shape& mask = c.shape(3);
  if (c.has(3) && mask.has_rank() && mask.rank() > 4)
    c.fail(fmt::format("mask is {}; it has at most 4 dimensions", c.input(3).text()));
  for (int i = 0; c.has(3) && mask.has_rank() && i < mask.rank(); ++i) {
    const auto have = mask[i].constant(), want = scores[4 - mask.rank() + i].constant();
    if (have && want && *have != 1 && *have != *want)
      c.fail(fmt::format("mask is {} for scores [{},{},{},{}]", c.input(3).text(), scores[0].text(), scores[1].text(),
                         scores[2].text(), scores[3].text()));
  }
  c.set(0, c.dtype(0), output_shape(o));
}

void sdpa_reference(EvalContext& c) {
  const Tensor &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  const Operands o = sdpa_operands(c.node(), Shape::from(q.dims()), Shape::from(k.dims()), Shape::from(v.dims()));
  AttentionProblem p = problem_of(c.node(), o, q, k, v);
  const int64_t causal = c.attrs().integer("causal"), offset = causal == 2 ? p.kv_len - p.q_len : 0;
  const AttentionMask mask =
      c.has(3) ? AttentionMask(c.node(), c.tensor(3), {p.batch, p.q_heads, p.q_len, p.kv_len}, true) : AttentionMask();
  p.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return causal != 0 && j > i + offset ? kHidden : mask.defined() ? mask(b, h, i, j) : 0.0;
  };
  set_output(c, p, o.packed, attend(p), q.dtype());
}

const OpDef op_sdpa = {
    .name = "sdpa",
    .doc = "softmax(scale * q k^T + mask) v; layout bhsd or bshd, causal",
    .types = "Tf T T fb",
    .min_inputs = 3,
    .max_inputs = 4,
    .infer = sdpa_infer,
    .reference = sdpa_reference,
};
const RegisterOp register_sdpa(op_sdpa);

}  // namespace
}  // namespace trine
