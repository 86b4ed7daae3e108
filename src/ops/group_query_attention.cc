// com.microsoft:GroupQueryAttention: causal grouped attention that appends to a key/value buffer.
//   inputs 0 query [B,S,H*D], or packed [B,S,(H+2*Hkv)*D] without 1 key and 2 value [B,S,Hkv*D]
//          3 past_key, 4 past_value [B,Hkv,P,D]   5 seqlens_k [B]: keys after this call, minus 1   6 total length
//          (scalar) 7 cos_cache, 8 sin_cache [positions, half]   9 position_ids [B,S]   10 attention_bias [B|1,H|1,S,T]
//          11 head_sink [H]
//   outputs y [B,S,H*D], present_key and present_value [B,Hkv,max(P,total),D]
// A first call (S == total) starts at key 0 for every sequence, so shorter prompts are padded at their right; of
// position_ids it then reads the first alone. Present rows past a sequence's keys are 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/infer.h"
#include "ops/attention_core.h"
#include "ops/node_error.h"
#include "ops/rotary.h"

namespace trine {
namespace {

struct Gqa {
  AttentionProblem problem;   // kv_len: the present buffer's length
  std::vector<int64_t> past;  // per batch: keys before this call
  std::vector<int64_t> keys;  // per batch: keys after it
  int64_t buffer = 0;         // P
  bool first_call = false;
};

// What we would compute as if it were not there.
void refuse_the_rest(InferContext& c) {
  for (std::string_view cache : {"k_quant_type", "v_quant_type"})
    if (const std::string type = c.attrs().string(cache, "NONE"); type != "NONE")
      c.fail(fmt::format("{} is {}; accepted: NONE", cache, type));
  for (std::string_view mode : {"sliding_window_cache", "qk_output"})
    if (const int64_t value = c.attrs().integer(mode)) c.fail(fmt::format("{} is {}; accepted: 0", mode, value));
  const int64_t causal = c.attrs().integer("causal", 1);
  if (causal < 0 || causal > 1) c.fail(fmt::format("causal is {}; accepted: 0, 1", causal));
  if (causal == 0 && c.attrs().integer("local_window_size", -1) != -1)
    c.fail("local_window_size is for causal = 1 only");
}

void infer_gqa(InferContext& c) {
  refuse_the_rest(c);
  c.need_rank(0, 3);
  const int64_t heads = c.attrs().integer("num_heads"), kv_heads = c.attrs().integer("kv_num_heads");
  if (heads < 1 || kv_heads < 1 || heads > INT32_MAX || kv_heads > INT32_MAX)
    c.fail("num_heads and kv_num_heads must be positive");
  if (!c.shape(0).has_rank()) {
    for (int i : {0, 1, 2}) c.set(i, c.dtype(0), c.fresh_shape(i == 0 ? 3 : 4));
    return;
  }
  const Shape& q = c.shape(0);
  const Dim head = floor_div(q[2], c.has(1) ? heads : heads + 2 * kv_heads);
  c.set(0, c.dtype(0), Shape{q[0], q[1], head * heads});
  Dim present = c.fresh("present");
  const auto total = c.integers(6);
  if (total && total->size() == 1 && c.shape(3).rank() == 4) present = max(c.shape(3)[2], Dim((*total)[0]));
  else if (total && total->size() == 1 && !c.has(3)) present = (*total)[0];
  for (int i : {1, 2}) c.set(i, c.dtype(0), Shape{q[0], kv_heads, present, head});
}

void rotate_rows(EvalContext& c, const Gqa& g, std::vector<double>& x, int64_t heads) {
  const Tensor &cos = c.tensor(7), &sin = c.tensor(8);
  const AttentionProblem& p = g.problem;
  require(c.node(), cos.rank() == 2 && cos.dims() == sin.dims() && cos.dim(1) * 2 <= p.head,
          fmt::format("cos_cache is {}, sin_cache is {}, head size is {}", cos.type_text(), sin.type_text(), p.head));
  const std::vector<double> cv = cos.f64_values(), sv = sin.f64_values();
  const std::vector<int64_t> ids = c.has(9) ? c.tensor(9).i64_values() : std::vector<int64_t>{};
  require(c.node(), ids.empty() || static_cast<int64_t>(ids.size()) == p.batch * p.q_len,
          "position_ids must be [batch,length]");
  const bool interleaved = c.attrs().integer("rotary_interleaved") != 0;
  const int64_t half = cos.dim(1);
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t s = 0; s < p.q_len; ++s) {
      const int64_t start =
          ids.empty() ? g.past[static_cast<size_t>(b)] : c.checked_index(ids[0], cos.dim(0), "position");
      const bool listed = !ids.empty() && !g.first_call;
      const int64_t position = listed ? ids[static_cast<size_t>(b * p.q_len + s)] : start + s;
      const int64_t at = c.checked_index(position, cos.dim(0), "position") * half;
      for (int64_t h = 0; h < heads; ++h)
        rotate(x.data() + ((b * heads + h) * p.q_len + s) * p.head, cv.data() + at, sv.data() + at, half, interleaved);
    }
}

// Columns [first, first + count) of a [rows, width] matrix.
std::vector<double> columns(const std::vector<double>& x, int64_t rows, int64_t width, int64_t first, int64_t count) {
  std::vector<double> y;
  for (int64_t r = 0; r < rows; ++r)
    y.insert(y.end(), x.begin() + r * width + first, x.begin() + r * width + first + count);
  return y;
}

// Reads query, key and value of this call into heads; `key` and `value` are [B,Hkv,S,D].
void read_operands(EvalContext& c, Gqa& g, std::vector<double>& key, std::vector<double>& value) {
  const Tensor& q = c.tensor(0);
  AttentionProblem& p = g.problem;
  require(c.node(), q.rank() == 3, fmt::format("query is {}; want [batch,length,heads*size]", q.type_text()));
  p.batch = q.dim(0);
  p.q_len = q.dim(1);
  p.q_heads = c.attrs().integer("num_heads");
  p.kv_heads = c.attrs().integer("kv_num_heads");
  const bool packed = !c.has(1);
  require(c.node(), p.q_heads >= 1 && p.kv_heads >= 1 && p.q_heads <= INT32_MAX && p.q_heads % p.kv_heads == 0,
          fmt::format("num_heads {}, kv_num_heads {}; want a multiple", p.q_heads, p.kv_heads));
  const int64_t rows = p.batch * p.q_len, parts = packed ? p.q_heads + 2 * p.kv_heads : p.q_heads;
  require(c.node(), q.dim(2) % parts == 0, fmt::format("query is {} for {} heads", q.type_text(), parts));
  p.head = p.v_head = q.dim(2) / parts;
  const int64_t q_width = p.q_heads * p.head, kv_width = p.kv_heads * p.head;
  std::vector<double> qv = q.f64_values();
  if (packed) {
    key = columns(qv, rows, q.dim(2), q_width, kv_width);
    value = columns(qv, rows, q.dim(2), q_width + kv_width, kv_width);
    qv = columns(qv, rows, q.dim(2), 0, q_width);
  } else {
    for (int i : {1, 2})
      require(c.node(), c.tensor(i).dims() == Dims({p.batch, p.q_len, kv_width}),
              fmt::format("input {} is {}; want [{},{},{}]", i, c.tensor(i).type_text(), p.batch, p.q_len, kv_width));
    key = c.tensor(1).f64_values();
    value = c.tensor(2).f64_values();
  }
  p.q = split_heads(qv, p.batch, p.q_len, p.q_heads, p.head);
  key = split_heads(key, p.batch, p.q_len, p.kv_heads, p.head);
  value = split_heads(value, p.batch, p.q_len, p.kv_heads, p.head);
}

void read_lengths(EvalContext& c, Gqa& g) {
  AttentionProblem& p = g.problem;
  const std::vector<int64_t> last = c.tensor(5).i64_values();
  require(c.node(), static_cast<int64_t>(last.size()) == p.batch && c.tensor(6).elements() == 1,
          fmt::format("seqlens_k is {}, total_sequence_length {}; want [{}] and one element", c.tensor(5).type_text(),
                      c.tensor(6).type_text(), p.batch));
  const int64_t total = c.tensor(6).i64_values()[0];
  if (c.has(3)) {
    const Tensor& past = c.tensor(3);
    require(c.node(),
            past.rank() == 4 && past.dims() == c.tensor(4).dims() && past.dim(0) == p.batch &&
                past.dim(1) == p.kv_heads && past.dim(3) == p.head,
            fmt::format("past_key is {}, past_value {}", past.type_text(), c.tensor(4).type_text()));
    g.buffer = past.dim(2);
  }
  require(c.node(), total >= p.q_len && total <= g.buffer + p.q_len,
          fmt::format("total_sequence_length is {} with {} new and room for {} old keys", total, p.q_len, g.buffer));
  p.kv_len = std::max(g.buffer, total);
  g.first_call = total == p.q_len;
  for (int64_t n : last) {
    const int64_t past = g.first_call ? 0 : n + 1 - p.q_len;
    require(c.node(), n >= 0 && n < total && past >= 0,
            fmt::format("seqlens_k holds {}; want {} to {}", n, p.q_len - 1, total - 1));
    g.past.push_back(past);
    g.keys.push_back(n + 1);
  }
}

// Past buffer with this call's rows written behind each sequence's own past.
std::vector<double> present(EvalContext& c, const Gqa& g, int past_input, const std::vector<double>& rows) {
  const AttentionProblem& p = g.problem;
  std::vector<double> all(value_count(Dims{p.batch, p.kv_heads, p.kv_len, p.head}), 0.0);
  const std::vector<double> past = c.has(past_input) ? c.tensor(past_input).f64_values() : std::vector<double>{};
  for (int64_t r = 0; r < p.batch * p.kv_heads; ++r) {
    const int64_t before = g.past[static_cast<size_t>(r / p.kv_heads)];
    const auto to = all.begin() + r * p.kv_len * p.head;
    if (before > 0) std::copy_n(past.begin() + r * g.buffer * p.head, before * p.head, to);
    std::copy_n(rows.begin() + r * p.q_len * p.head, p.q_len * p.head, to + before * p.head);
  }
  return all;
}

void gqa_reference(EvalContext& c) {
  Gqa g;
  AttentionProblem& p = g.problem;
  std::vector<double> key, value;
  read_operands(c, g, key, value);
  read_lengths(c, g);
  if (c.attrs().integer("do_rotary") != 0) {
    rotate_rows(c, g, p.q, p.q_heads);
    rotate_rows(c, g, key, p.kv_heads);
  }
  p.k = present(c, g, 3, key);
  p.v = present(c, g, 4, value);
  const double scale = c.attrs().real("scale");
  p.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(p.head));
  p.softcap = c.attrs().real("softcap");
  if (c.has(11)) {
    p.sinks = c.tensor(11).f64_values();
    require(c.node(), static_cast<int64_t>(p.sinks.size()) == p.q_heads,
            fmt::format("head_sink is {}; want [{}]", c.tensor(11).type_text(), p.q_heads));
  } else if (c.attrs().integer("smooth_softmax") > 0) {
    p.sinks.assign(static_cast<size_t>(p.q_heads), 0.0);
  }
  p.check(c.node());
  const int64_t window = c.attrs().integer("local_window_size", -1);
  const bool causal = c.attrs().integer("causal", 1) != 0;
  const int64_t total = c.tensor(6).i64_values()[0];
  const AttentionMask bias =
      c.has(10) ? AttentionMask(c.node(), c.tensor(10), {p.batch, p.q_heads, p.q_len, total}, true) : AttentionMask();
  p.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    const int64_t position = g.past[static_cast<size_t>(b)] + i;
    const bool hidden =
        (causal && j > position) || j >= g.keys[static_cast<size_t>(b)] || (window > 0 && j <= position - window);
    return hidden ? -std::numeric_limits<double>::infinity() : bias.defined() ? bias(b, h, i, j) : 0.0;
  };
  const std::vector<double> y = attend(p);
  const DType dtype = c.tensor(0).dtype();
  c.set(0, Tensor::from_f64(dtype, {p.batch, p.q_len, p.q_heads * p.head},
                            merge_heads(y, p.batch, p.q_len, p.q_heads, p.head)));
  c.set(1, Tensor::from_f64(dtype, {p.batch, p.kv_heads, p.kv_len, p.head}, p.k));
  c.set(2, Tensor::from_f64(dtype, {p.batch, p.kv_heads, p.kv_len, p.head}, p.v));
}

const OpDef op_group_query_attention = {
    .name = "group_query_attention",
    .onnx = "com.microsoft:GroupQueryAttention",
    .doc = "causal grouped attention appending to a key/value buffer; rotary, local window, softcap, sinks",
    .types = "Tf T T T T x x T T x T T f f",
    .min_inputs = 7,
    .max_inputs = 14,
    .min_outputs = 1,
    .max_outputs = 4,
    .infer = infer_gqa,
    .reference = gqa_reference,
};
const RegisterOp register_group_query_attention(op_group_query_attention);

}  // namespace
}  // namespace trine
