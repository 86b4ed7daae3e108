#include <fmt/format.h>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kMaskNames[] = {"none", "additive", "boolean"};
constexpr int64_t kRandomWords = 4;  // seed and offset

template <class Range>
std::string list(const Range& range) {
  return fmt::format("{}", fmt::join(range, ","));
}

// One past the last element that strides reach; 0 when there is none.
int64_t reach(const std::array<int64_t, 3>& stride, int64_t batch, int64_t heads, int64_t positions, int64_t inner) {
  if (batch == 0 || heads == 0 || positions == 0) return 0;
  return stride[0] * (batch - 1) + stride[1] * (heads - 1) + stride[2] * (positions - 1) + inner;
}

std::string options_text(const AttentionProblem& p) {
  std::string text;
  if (p.causal) text += fmt::format(" causal {}", p.causal_offset);
  else if (p.causal_offset) text += fmt::format(" shift {}", p.causal_offset);
  if (p.bottom_right) text += " bottom_right";
  if (p.window_left >= 0) text += fmt::format(" left {}", p.window_left);
  if (p.window_right >= 0) text += fmt::format(" right {}", p.window_right);
  if (p.lengths) text += " lengths";
  if (p.alibi) text += " alibi";
  if (p.dropout > 0) text += fmt::format(" dropout {}", p.dropout);
  if (p.lse) text += " lse";
  text += type_text(p.type);
  return text;
}

}  // namespace

std::string text_of(const AttentionProblem& p) {
  return fmt::format(
      "attention{} batch {} heads {}/{} q {} kv {} dims {}/{} scale {} softcap {}{} mask {}[{}] strides "
      "[{}][{}][{}][{}]",
      p.pass == Pass::backward ? "_backward" : "", p.batch, p.heads, p.kv_heads, p.q_len, p.kv_len, p.head_dim,
      p.v_head_dim, p.scale, p.softcap, options_text(p), kMaskNames[static_cast<size_t>(p.mask)], list(p.mask_stride),
      list(p.q_stride), list(p.k_stride), list(p.v_stride), list(p.out_stride));
}

double flops_of(const AttentionProblem& p) {
  const double pairs =
      static_cast<double>(p.batch * p.heads) * static_cast<double>(p.q_len) * static_cast<double>(p.kv_len);
  const double forward = 2 * pairs * static_cast<double>(p.head_dim + p.v_head_dim) * (p.causal ? 0.5 : 1.0);
  return p.pass == Pass::forward ? forward : 2.5 * forward;
}

double bytes_of(const AttentionProblem& p) {
  const double q = static_cast<double>(p.heads * p.q_len * (p.head_dim + p.v_head_dim));
  const double kv = static_cast<double>(p.kv_heads * p.kv_len * (p.head_dim + p.v_head_dim));
  return (p.pass == Pass::forward ? 1 : 2) * static_cast<double>(byte_size(p.type)) * static_cast<double>(p.batch) *
         (q + kv);
}

OperandSizes sizes_of(const AttentionProblem& p) {
  OperandSizes s;
  const int64_t q = reach(p.q_stride, p.batch, p.heads, p.q_len, p.head_dim);
  const int64_t k = reach(p.k_stride, p.batch, p.kv_heads, p.kv_len, p.head_dim);
  const int64_t v = reach(p.v_stride, p.batch, p.kv_heads, p.kv_len, p.v_head_dim);
  const int64_t out = reach(p.out_stride, p.batch, p.heads, p.q_len, p.v_head_dim), lse = p.batch * p.heads * p.q_len;
  s.in[0] = q, s.in[1] = k, s.in[2] = v;
  const auto& m = p.mask_stride;
  if (p.mask != MaskKind::none && lse > 0 && p.kv_len > 0)
    s.in[3] = m[0] * (p.batch - 1) + m[1] * (p.heads - 1) + m[2] * (p.q_len - 1) + m[3] * (p.kv_len - 1) + 1;
  if (p.lengths) {
    s.in[4] = s.in[5] = p.batch;
    s.integers[4] = static_cast<int32_t>(p.q_len);
    s.integers[5] = static_cast<int32_t>(p.kv_len);
  }
  if (p.alibi) s.in[6] = p.heads;
  if (p.dropout > 0) s.in[7] = kRandomWords, s.integers[7] = 7;
  if (p.pass == Pass::forward) {
    s.out[0] = out;
    if (p.lse) s.out[1] = lse;
    return s;
  }
  s.in[8] = s.in[9] = out;
  s.in[10] = lse;
  s.out[0] = q, s.out[1] = k, s.out[2] = v;
  if (p.mask == MaskKind::additive) s.out[3] = s.in[3];
  return s;
}

}  // namespace trine::dnn
