// Attention, and its gradients without a matrix of scores in memory.
#pragma once

#include "trine/base/dtype.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

enum class MaskKind : uint8_t { none, additive, boolean };  // boolean, a byte each: true takes part

// forward:  out[b, h, i] = sum over j of p[b,h,i,j] * v[b,h',j],  p = softmax over j of s[b,h,i,j], with
//           s[b,h,i,j] = cap(scale * q[b,h,i] . k[b,h',j]) + mask[b,h,i,j] + slope[h] * (j - i - shift),
//           cap(s) = softcap * tanh(s / softcap) when softcap > 0,   h' = h / (heads / kv_heads).
// Query i sees key j, else s = -infinity, when all of these hold:
//   i < q_lens[b] and j < kv_lens[b]     `lengths`; without it these are q_len and kv_len
//   j <= i + shift                       `causal`
//   j >= i + shift - window_left         window_left >= 0: keys before the one on the diagonal (cuDNN's left bound - 1)
//   j <= i + shift + window_right        window_right >= 0
//   the boolean mask is true
// shift is causal_offset, and with bottom_right kv_lens[b] - q_lens[b] more: the last query then meets the last key.
// A query that sees nothing gives 0 (and log-sum-exp -infinity). NaN in what a query sees makes its results NaN.
//
// dropout: p[b,h,i,j] is divided by 1 - dropout or, with that probability, becomes 0; by Philox, word e % 4 of counter
// offset + e / 4, e = ((b * heads + h) * q_len + i) * kv_len + j, key seed: it is kept when word * 2^-32 >= dropout. So
// the same seed and offset give the same choice in both passes and on any number of threads.
//
// backward: from dout, the forward's out and its log-sum-exp lse[b,h,i] = ln (sum over j of exp s):
//   delta = dout . out,  dp = dropped(dout . v),  ds = p (dp - delta),  dmask = ds summed over what the mask
//   broadcasts, dv = dropped(p)^T dout,  dq = scale * (ds cap')  k,  dk = scale * (ds cap')^T q
// Each sum has one order, whatever the number of threads.
//
// Operands: in  0 q, 1 k, 2 v, 3 mask, 4 q_lens i32 [B], 5 kv_lens i32 [B], 6 slopes [heads], 7 seed and offset, u64
// each;
//               backward also 8 out, 9 dout, 10 lse [B, heads, q_len]
//           out forward 0 out, 1 lse (may be null);  backward 0 dq, 1 dk, 2 dv, 3 dmask (may be null; as mask, f32)
// Strides are in elements; the head dimension is contiguous. Gradients have the strides of what they are gradients of.
struct AttentionProblem {
  int64_t batch = 1, heads = 1, kv_heads = 1;
  int64_t q_len = 0, kv_len = 0, head_dim = 0, v_head_dim = 0;
  float scale = 1;
  float softcap = 0;
  bool causal = false;
  int64_t causal_offset = 0;
  MaskKind mask = MaskKind::none;
  std::array<int64_t, 4> mask_stride{};                                     // batch, head, query, key; 0 broadcasts
  std::array<int64_t, 3> q_stride{}, k_stride{}, v_stride{}, out_stride{};  // batch, head, position
  Pass pass = Pass::forward;
  bool bottom_right = false;
  int64_t window_left = -1, window_right = -1;
  bool lengths = false;
  bool alibi = false;
  float dropout = 0;        // in [0, 1)
  bool lse = false;         // forward: the log-sum-exp is an output
  DType type = DType::f32;  // of q, k, v, out and their gradients: f16 and bf16 too; all else stays f32, sums are f32
  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};

}  // namespace trine::dnn
