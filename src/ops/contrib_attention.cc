// com.microsoft's MultiHeadAttention and Attention: attention.cc's formula with its own ways to pass heads and masks.
// A key that a padding mask excludes gets `mask_filter_value` (default -10000) added, as onnxruntime does; a key after
// the query of a unidirectional model is hidden.
#include <cmath>
#include <limits>
#include <optional>

#include "graph/infer.h"
#include "ops/attention_core.h"
#include "ops/matmul.h"
#include "ops/node_error.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// Key padding in any of its forms:
//   [B] number of keys;  [2B] ends, then starts;  [B,T] keep;  [B,S,T] keep;  [B,1,M,M] keep (queries are the last
//   rows)
class KeyPadding {
 public:
  KeyPadding() = default;
  KeyPadding(const Node& node, const Tensor& mask, const AttentionProblem& p) : mask_(mask.i64_values()), t_(p.kv_len) {
    const Dims& d = mask.dims();
    const int64_t b = p.batch, s = p.q_len, t = p.kv_len;
    const bool square = d.size() == 4 && d[0] == b && d[1] == 1 && d[2] == d[3] && d[3] >= t;
    if (d.size() == 1 && (d[0] == b || d[0] == 3 * b + 2)) batch_ = 1, form_ = Form::length;
    else if (d.size() == 1 && d[0] == 2 * b) batch_ = 1, starts_ = b, form_ = Form::length;
    else if (d == Dims{b, t}) batch_ = t, form_ = Form::keep;
    else if (d == Dims{b, s, t}) batch_ = s * t, row_ = t, form_ = Form::keep;
    else if (square) batch_ = d[2] * d[3], row_ = d[3], first_row_ = t - s, form_ = Form::keep;
    else
      fail(node,
           fmt::format("key padding mask is {}; want [{}], [{},{}] or [{},{},{}]", mask.type_text(), b, b, t, b, s, t));
    require(node, first_row_ >= 0, fmt::format("key padding mask is {} for {} keys", mask.type_text(), t));
  }

  bool keeps(int64_t b, int64_t i, int64_t j) const {
    if (form_ == Form::none) return true;
    if (form_ == Form::length)
      return j < mask_[static_cast<size_t>(b)] && (starts_ == 0 || j >= mask_[static_cast<size_t>(starts_ + b)]);
    return mask_[static_cast<size_t>(b * batch_ + (first_row_ + i) * row_ + j)] != 0;
  }

 private:
  enum class Form : uint8_t { none, length, keep };
  Form form_ = Form::none;
  std::vector<int64_t> mask_;
  int64_t t_ = 0, batch_ = 0, row_ = 0, first_row_ = 0, starts_ = 0;
};

// Runs p with the padding mask and additive bias found at these inputs.
std::vector<double> attend_masked(EvalContext& c, AttentionProblem& p, int padding_input, int bias_input,
                                  std::vector<double>* scores) {
  const double scale = c.attrs().real("scale");
  p.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(p.head));
  p.check(c.node());
  const double filter = c.attrs().real("mask_filter_value", -10000);
  const bool causal = c.attrs().integer("unidirectional") != 0;
  const int64_t past = p.kv_len - p.q_len;
  const KeyPadding padding = c.has(padding_input) ? KeyPadding(c.node(), c.tensor(padding_input), p) : KeyPadding();
  const AttentionMask bias =
      c.has(bias_input) ? AttentionMask(c.node(), c.tensor(bias_input), {p.batch, p.q_heads, p.q_len, p.kv_len}, true)
                        : AttentionMask();
  p.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    if (causal && j > i + past) return kHidden;
    return (padding.keeps(b, i, j) ? 0 : filter) + (bias.defined() ? bias(b, h, i, j) : 0);
  };
  return attend(p, ScoreStage::raw, scores);
}

int64_t head_count(const Node& node) {
  const int64_t heads = node.attrs.integer("num_heads");
  require(node, heads >= 1 && heads <= INT32_MAX, fmt::format("num_heads is {}; want 1 or more", heads));
  return heads;
}

// The first `count` of `length` rows of each matrix.
std::vector<double> first_rows(const std::vector<double>& x, int64_t matrices, int64_t length, int64_t count,
                               int64_t width) {
  std::vector<double> y;
  for (int64_t m = 0; m < matrices; ++m)
    y.insert(y.end(), x.begin() + m * length * width, x.begin() + (m * length + count) * width);
  return y;
}

// A cache [B,H,length,D], of which the first `used` rows count; and this call's rows behind those.
struct Cache {
  std::vector<double> buffer;
  int64_t length = 0, used = 0;

  Cache(const EvalContext& c, int input, const AttentionProblem& p, int64_t head) {
    const Tensor& t = c.tensor(input);
    require(c.node(), t.rank() == 4 && t.dim(0) == p.batch && t.dim(1) == p.kv_heads && t.dim(3) == head,
            fmt::format("past is {}; want [{},{},past,{}]", t.type_text(), p.batch, p.kv_heads, head));
    buffer = t.f64_values();
    length = used = t.dim(2);
  }

  std::vector<double> with(const std::vector<double>& rows, const AttentionProblem& p, int64_t head) const {
    const int64_t heads = p.batch * p.kv_heads;
    return append_cache(first_rows(buffer, heads, length, used, head), rows, heads, used, p.kv_len, head);
  }
  // The buffer after the call: what was not written stays.
  std::vector<double> over(const std::vector<double>& rows, const AttentionProblem& p, int64_t head) const {
    std::vector<double> after = buffer;
    for (int64_t h = 0; h < p.batch * p.kv_heads; ++h)
      std::copy_n(rows.begin() + h * p.kv_len * head, p.kv_len * head, after.begin() + h * length * head);
    return after;
  }
};

// MultiHeadAttention: 0 query [B,S,H*D] or packed [B,S,H,3,D]; 1 key [B,L,H*D], packed [B,L,H,2,D] or cache [B,H,L,D];
// 2 value; 3 bias [q, k, v]; 4 key_padding_mask; 5 attention_bias; 6 past_key; 7 past_value; 8 past_sequence_length:
// past and present are one buffer, of whose rows so many are the past; 9 cache_indirection, of beam search
struct MhaShape {
  Dim batch, length, keys, head, v_head;
};

MhaShape mha_shape(const Node& node, const Shape& q, const Shape& k, const Shape& v) {
  const int64_t heads = head_count(node);
  if (q.rank() == 5) return {q[0], q[1], q[1], q[4], q[4]};
  require(node, q.rank() == 3,
          fmt::format("query has shape [{}]; want [batch,length,heads*size] or [batch,length,heads,3,size]", q.text()));
  const Dim head = floor_div(q[2], heads);
  if (k.has_rank() && k.rank() == 5) return {q[0], q[1], k[1], head, head};
  require(node, k.has_rank() && v.has_rank() && k.rank() == v.rank() && (k.rank() == 3 || k.rank() == 4),
          fmt::format("key has shape [{}], value [{}]; want three dimensions, or four of a cache", k.text(), v.text()));
  const bool cache = k.rank() == 4;
  return {q[0], q[1], cache ? k[2] : k[1], head, cache ? v[3] : floor_div(v[2], heads)};
}

void mha_infer(InferContext& c) {
  if (c.has(9)) c.fail("cache_indirection is not accepted; only decoding without beams is");
  if (c.has(6) != c.has(7)) c.fail("past_key and past_value must be given together");
  const bool packed = c.shape(0).rank() == 5 || c.shape(1).rank() == 5;
  if (!c.shape(0).has_rank() || (!packed && (!c.shape(1).has_rank() || !c.shape(2).has_rank()))) {
    for (int i : {0, 1, 2, 3}) c.set(i, c.dtype(0), Shape());
    return;
  }
  const int64_t heads = head_count(c.node());
  const MhaShape s = mha_shape(c.node(), c.shape(0), c.shape(1), c.shape(2));
  Dim total = s.keys;
  Dim present = s.keys;
  if (c.has(6))
    present = c.shape(6).rank() != 4 ? c.fresh("present") : c.has(8) ? c.shape(6)[2] : total + c.shape(6)[2];
  if (c.has(6)) total = c.has(8) ? c.fresh("total") : present;
  c.set(0, c.dtype(0), Shape{s.batch, s.length, s.v_head * heads});
  c.set(1, c.dtype(0), Shape{s.batch, heads, present, s.head});
  c.set(2, c.dtype(0), Shape{s.batch, heads, present, s.v_head});
  c.set(3, c.dtype(0), Shape{s.batch, heads, s.length, total});
}

// Part `which` of `parts` of a packed [B,S,H,parts,D] tensor, as [B,S,H*D].
std::vector<double> unpack(const Tensor& t, int64_t which, int64_t parts) {
  const int64_t size = t.dim(4);
  const std::vector<double> all = t.f64_values();
  std::vector<double> one;
  for (int64_t r = 0; r < t.dim(0) * t.dim(1) * t.dim(2); ++r)
    one.insert(one.end(), all.begin() + (r * parts + which) * size, all.begin() + (r * parts + which + 1) * size);
  return one;
}

void add_bias(EvalContext& c, std::vector<double>& x, int64_t first, int64_t width) {
  if (!c.has(3) || width == 0) return;
  const Tensor& bias = c.tensor(3);
  require(c.node(), bias.rank() == 1 && bias.dim(0) >= first + width,
          fmt::format("bias is {}; want {} or more elements", bias.type_text(), first + width));
  const std::vector<double> values = bias.f64_values();
  for (size_t i = 0; i < x.size(); ++i) x[i] += values[static_cast<size_t>(first) + i % static_cast<size_t>(width)];
}

AttentionProblem mha_problem(EvalContext& c) {
  const Tensor& q = c.tensor(0);
  const bool packed_qkv = q.rank() == 5, packed_kv = !packed_qkv && c.has(1) && c.tensor(1).rank() == 5;
  const auto shape_of = [&](int i) { return c.has(i) ? Shape::from(c.tensor(i).dims()) : Shape(); };
  const MhaShape s = mha_shape(c.node(), shape_of(0), shape_of(1), shape_of(2));
  AttentionProblem p;
  p.batch = s.batch.value(), p.q_len = s.length.value(), p.kv_len = s.keys.value();
  p.head = s.head.value(), p.v_head = s.v_head.value();
  p.q_heads = p.kv_heads = head_count(c.node());
  const int64_t width = p.q_heads * p.head, v_width = p.q_heads * p.v_head;
  if (packed_qkv)
    require(c.node(), q.dim(2) == p.q_heads && q.dim(3) == 3, fmt::format("packed query is {}", q.type_text()));
  if (packed_kv)
    require(c.node(), c.tensor(1).dim(2) == p.q_heads && c.tensor(1).dim(3) == 2,
            fmt::format("packed key is {}", c.tensor(1).type_text()));
  std::vector<double> qv = packed_qkv ? unpack(q, 0, 3) : q.f64_values();
  add_bias(c, qv, 0, width);
  require(c.node(), static_cast<int64_t>(qv.size()) == p.batch * p.q_len * width,
          fmt::format("query is {} for {} heads", q.type_text(), p.q_heads));
  p.q = split_heads(qv, p.batch, p.q_len, p.q_heads, p.head);
  if (!packed_qkv && c.tensor(1).rank() == 4) {  // already in heads
    p.k = c.tensor(1).f64_values();
    p.v = c.tensor(2).f64_values();
    return p;
  }
  std::vector<double> kv = packed_qkv  ? unpack(q, 1, 3)
                           : packed_kv ? unpack(c.tensor(1), 0, 2)
                                       : c.tensor(1).f64_values();
  std::vector<double> vv = packed_qkv  ? unpack(q, 2, 3)
                           : packed_kv ? unpack(c.tensor(1), 1, 2)
                                       : c.tensor(2).f64_values();
  const int64_t keys = p.batch * p.kv_len;
  require(c.node(),
          static_cast<int64_t>(kv.size()) == keys * width && static_cast<int64_t>(vv.size()) == keys * v_width,
          "key or value does not match the query's batch and heads");
  add_bias(c, kv, width, width);
  add_bias(c, vv, 2 * width, v_width);
  p.k = split_heads(kv, p.batch, p.kv_len, p.kv_heads, p.head);
  p.v = split_heads(vv, p.batch, p.kv_len, p.kv_heads, p.v_head);
  return p;
}

// The rows of a shared buffer that this call finds written.
int64_t rows_used(EvalContext& c, int64_t length, int64_t added) {
  const int64_t used = scalar_integer(c, 8, "past_sequence_length");
  require(
      c.node(), used >= 0 && used < length && added <= length - used,
      fmt::format("past_sequence_length is {}; {} keys do not fit behind it into a cache of {}", used, added, length));
  return used;
}

void mha_reference(EvalContext& c) {
  AttentionProblem p = mha_problem(c);
  std::optional<Cache> keys, values;
  if (c.has(6)) {
    keys.emplace(c, 6, p, p.head);
    values.emplace(c, 7, p, p.v_head);
    require(c.node(), keys->length == values->length,
            fmt::format("past_key has {} rows, past_value {}", keys->length, values->length));
    if (c.has(8)) keys->used = values->used = rows_used(c, keys->length, p.kv_len);
    p.k = keys->with(p.k, p, p.head);
    p.v = values->with(p.v, p, p.v_head);
    p.kv_len += keys->used;
  }
  std::vector<double> scores;
  const std::vector<double> y = attend_masked(c, p, 4, 5, c.wants(3) ? &scores : nullptr);
  const DType dtype = c.tensor(0).dtype();
  c.set(0, Tensor::from_f64(dtype, {p.batch, p.q_len, p.q_heads * p.v_head},
                            merge_heads(y, p.batch, p.q_len, p.q_heads, p.v_head)));
  const bool shared = keys && c.has(8);
  const int64_t present = shared ? keys->length : p.kv_len;
  if (c.wants(1))
    c.set(1,
          Tensor::from_f64(dtype, {p.batch, p.kv_heads, present, p.head}, shared ? keys->over(p.k, p, p.head) : p.k));
  if (c.wants(2))
    c.set(2, Tensor::from_f64(dtype, {p.batch, p.kv_heads, present, p.v_head},
                              shared ? values->over(p.v, p, p.v_head) : p.v));
  if (c.wants(3)) c.set(3, Tensor::from_f64(dtype, {p.batch, p.q_heads, p.q_len, p.kv_len}, scores));
}

const OpDef op_multi_head_attention = {
    .name = "multi_head_attention",
    .onnx = "com.microsoft:MultiHeadAttention",
    .doc = "attention over separate or packed query, key and value, with bias, padding mask and cache",
    .types = "Tf T T T x T T T x x",
    .min_inputs = 1,
    .max_inputs = 10,
    .min_outputs = 1,
    .max_outputs = 4,
    .infer = mha_infer,
    .reference = mha_reference,
};
const RegisterOp register_multi_head_attention(op_multi_head_attention);

// Attention: 0 input [B,S,I]; 1 weights [I, q+k+v]; 2 bias [q+k+v]; 3 mask; 4 past [2,B,H,P,D]; 5 attention_bias;
// 6 past_sequence_length, which counts for a shared buffer alone, and those are not accepted. Outputs y [B,S,v] and
// present [2,B,H,P+S,D].
std::vector<Dim> qkv_widths(const Node& node, const Dim& total) {
  const std::vector<int64_t> given = node.attrs.integers("qkv_hidden_sizes");
  require(node, given.empty() || given.size() == 3, "qkv_hidden_sizes must have 3 values");
  if (given.empty()) return std::vector<Dim>(3, floor_div(total, 3));
  const int64_t heads = head_count(node);
  for (int64_t w : given)
    require(node, w >= 0 && w <= INT32_MAX && w % heads == 0,
            fmt::format("qkv_hidden_sizes holds {} for {} heads", w, heads));
  return {given.begin(), given.end()};
}

void contrib_attention_infer(InferContext& c) {
  if (c.attrs().integer("do_rotary") != 0)
    c.fail("do_rotary is not accepted; write the model with RotaryEmbedding and MultiHeadAttention");
  if (c.attrs().integer("past_present_share_buffer") != 0)
    c.fail(
        "past_present_share_buffer is not accepted; give past without spare room, or write the model with "
        "MultiHeadAttention");
  c.need_rank(0, 3);
  c.need_rank(1, 2);
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) {
    c.set(0, c.dtype(0), c.fresh_shape(3));
    return c.set(1, c.dtype(0), c.fresh_shape(5));
  }
  const int64_t heads = head_count(c.node());
  const std::vector<Dim> widths = qkv_widths(c.node(), c.shape(1)[1]);
  const Shape& x = c.shape(0);
  Dim total = x[1];
  if (c.has(4)) total = c.shape(4).rank() == 5 ? total + c.shape(4)[3] : c.fresh("total");
  c.set(0, c.dtype(0), Shape{x[0], x[1], widths[2]});
  c.set(1, c.dtype(0), Shape{2, x[0], heads, total, floor_div(widths[1], heads)});
}

AttentionProblem projected(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1);
  require(c.node(), x.rank() == 3 && w.rank() == 2,
          fmt::format("input is {}, weights {}", x.type_text(), w.type_text()));
  const std::vector<Dim> widths = qkv_widths(c.node(), w.dim(1));
  AttentionProblem p;
  p.batch = x.dim(0), p.q_len = p.kv_len = x.dim(1);
  p.q_heads = p.kv_heads = head_count(c.node());
  const int64_t q = widths[0].value(), k = widths[1].value(), v = widths[2].value(), all = q + k + v;
  require(c.node(), all == w.dim(1) && q == k && q % p.q_heads == 0 && v % p.q_heads == 0,
          fmt::format("weights are {} for widths {}, {}, {} and {} heads", w.type_text(), q, k, v, p.q_heads));
  p.head = q / p.q_heads, p.v_head = v / p.q_heads;
  std::vector<double> y =
      matmul(MatmulShape::of(c.node(), Shape::from(x.dims()), Shape::from(w.dims())), x.f64_values(), w.f64_values());
  if (c.has(2)) {
    require(c.node(), c.tensor(2).elements() == all,
            fmt::format("bias is {}; want [{}]", c.tensor(2).type_text(), all));
    const std::vector<double> bias = c.tensor(2).f64_values();
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  }
  const auto part = [&](int64_t first, int64_t width, int64_t head) {
    std::vector<double> one;
    for (int64_t r = 0; r < p.batch * p.q_len; ++r)
      one.insert(one.end(), y.begin() + r * all + first, y.begin() + r * all + first + width);
    return split_heads(one, p.batch, p.q_len, p.q_heads, head);
  };
  p.q = part(0, q, p.head), p.k = part(q, k, p.head), p.v = part(q + k, v, p.v_head);
  return p;
}

// Puts half `which` of past [2,B,H,P,D] in front.
int64_t prepend_half(EvalContext& c, const AttentionProblem& p, int64_t which, std::vector<double>& values) {
  const Tensor& past = c.tensor(4);
  require(c.node(),
          past.rank() == 5 && past.dim(0) == 2 && past.dim(1) == p.batch && past.dim(2) == p.kv_heads &&
              past.dim(4) == p.head && p.head == p.v_head,
          fmt::format("past is {}; want [2,{},{},past,{}]", past.type_text(), p.batch, p.kv_heads, p.head));
  const std::vector<double> both = past.f64_values();
  const auto half = static_cast<std::ptrdiff_t>(both.size() / 2);
  const std::vector<double> one(both.begin() + which * half, both.begin() + (which + 1) * half);
  values = append_cache(one, values, p.batch * p.kv_heads, past.dim(3), p.kv_len, p.head);
  return past.dim(3);
}

void contrib_attention_reference(EvalContext& c) {
  AttentionProblem p = projected(c);
  if (c.has(4)) {
    prepend_half(c, p, 0, p.k);
    p.kv_len += prepend_half(c, p, 1, p.v);
  }
  const std::vector<double> y = attend_masked(c, p, 3, 5, nullptr);
  const DType dtype = c.tensor(0).dtype();
  c.set(0, Tensor::from_f64(dtype, {p.batch, p.q_len, p.q_heads * p.v_head},
                            merge_heads(y, p.batch, p.q_len, p.q_heads, p.v_head)));
  if (!c.wants(1)) return;
  require(c.node(), p.head == p.v_head, "present needs value heads as large as key heads");
  std::vector<double> present = p.k;
  present.insert(present.end(), p.v.begin(), p.v.end());
  c.set(1, Tensor::from_f64(dtype, {2, p.batch, p.kv_heads, p.kv_len, p.head}, present));
}

const OpDef op_contrib_attention = {
    .name = "contrib_attention",
    .onnx = "com.microsoft:Attention",
    .doc = "attention of x's own projections x @ weights + bias",
    .types = "Tf T T x T T x",
    .min_inputs = 2,
    .max_inputs = 7,
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = contrib_attention_infer,
    .reference = contrib_attention_reference,
};
const RegisterOp register_contrib_attention(op_contrib_attention);

}  // namespace
}  // namespace trine
