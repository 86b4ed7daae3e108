#include "backends/cpu/kernels/attention/scores.h"

#include <algorithm>
#include <cmath>

#include "trine/base/error.h"

namespace trine::cpu {

using namespace dnn;

const AttentionIsa& attention_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kAttentionAvx512;
  if (level == CpuLevel::avx2) return kAttentionAvx2;
#endif
  return kAttentionBaseline;
}

const char* refusal(const AttentionProblem& p, Pass pass) {
  if (p.pass != pass) return pass == Pass::forward ? "the backward pass" : "the forward pass";
  return p.kv_heads <= 0 || p.heads % p.kv_heads ? "heads are no multiple of key/value heads" : nullptr;
}

void check_lengths(const AttentionProblem& p, const Args& args) {
  if (!p.lengths) return;
  for (int operand : {4, 5}) {
    const int64_t most = operand == 4 ? p.q_len : p.kv_len;
    for (int64_t b = 0; b < p.batch; ++b)
      if (const int64_t n = static_cast<const int32_t*>(args.in[operand])[b]; n < 0 || n > most)
        throw Error(ErrorCode::invalid_argument, "attention: length " + std::to_string(n) +
                                                     (operand == 4 ? " of queries" : " of keys") + "; want 0 to " +
                                                     std::to_string(most));
  }
}

Scores::Scores(const AttentionProblem& p, const Args& args, CpuLevel level)
    : p_(p), args_(args), isa_(attention_isa(level)), dropout_(p.dropout, args.in[7]) {}

int64_t Scores::shift(int64_t batch) const {
  return p_.causal_offset + (p_.bottom_right ? keys(batch) - queries(batch) : 0);
}

Scores::Range Scores::seen(int64_t batch, int64_t query) const {
  if (query >= queries(batch)) return {0, 0};
  const int64_t diagonal = query + shift(batch);
  Range r{0, keys(batch)};
  if (p_.causal) r.end = std::min(r.end, diagonal + 1);
  if (p_.window_right >= 0) r.end = std::min(r.end, diagonal + p_.window_right + 1);
  r.end = std::max<int64_t>(r.end, 0);
  if (p_.window_left >= 0) r.begin = std::clamp<int64_t>(diagonal - p_.window_left, 0, r.end);
  return r;
}

void Scores::add_bias(int64_t batch, int64_t head, int64_t query, int64_t key, int64_t n, float* s) const {
  if (p_.mask != MaskKind::none) add_mask(batch, head, query, key, n, s);
  if (!p_.alibi) return;
  const float slope = static_cast<const float*>(args_.in[6])[head];
  const int64_t from = key - query - shift(batch);
  for (int64_t j = 0; j < n; ++j) s[j] += slope * static_cast<float>(from + j);
}

void Scores::add_mask(int64_t batch, int64_t head, int64_t query, int64_t key, int64_t n, float* s) const {
  const auto& stride = p_.mask_stride;
  const int64_t at = batch * stride[0] + head * stride[1] + query * stride[2] + key * stride[3];
  if (p_.mask == MaskKind::boolean) {
    const auto* mask = static_cast<const uint8_t*>(args_.in[3]) + at;
    for (int64_t j = 0; j < n; ++j) s[j] = mask[j * stride[3]] ? s[j] : -INFINITY;
    return;
  }
  const auto* mask = static_cast<const float*>(args_.in[3]) + at;
  if (stride[3] == 1) return isa_.add_row(s, n, mask);
  for (int64_t j = 0; j < n; ++j) s[j] += mask[j * stride[3]];
}

}  // namespace trine::cpu
