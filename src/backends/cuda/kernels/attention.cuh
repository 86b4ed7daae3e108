// What kernels of attention share: which keys a query sees, and what is done to a score.
#pragma once

#include "element.cuh"

namespace trine {

struct AttentionData {
  const void *q, *k, *v, *mask;
  const int *q_lens, *kv_lens;
  const float* slopes;
  const unsigned long long* random;  // key, offset
  void* y;
  float* lse;
  Wide* fault;
};

constexpr float kLog2E = 1.44269504f;

// Lengths of a batch entry, held to what there is.
struct Reach {
  int queries, keys, shift;
};

__device__ inline int length_of(const int* lens, int b, int most, Wide* fault) {
  const int n = lens[b], held = n < 0 ? 0 : n > most ? most : n;
  if (n != held && fault && atomicCAS(reinterpret_cast<unsigned long long*>(fault), 0ull, 1ull) == 0) fault[1] = n;
  return held;
}

__device__ inline Reach reach_of(const AttentionSizes& p, const AttentionData& data, int b) {
  Reach r{p.q_len, p.kv_len, p.causal_offset};
  if (p.lengths) {
    r.queries = length_of(data.q_lens, b, p.q_len, data.fault);
    r.keys = length_of(data.kv_lens, b, p.kv_len, data.fault);
  }
  if (p.bottom_right) r.shift += r.keys - r.queries;
  return r;
}

// The keys [first, end) that query i may see, masks aside.
struct Seen {
  int first, end;
};

__device__ inline Seen seen_by(const AttentionSizes& p, const Reach& r, int i) {
  if (i >= r.queries) return {0, 0};
  Wide first = 0, end = r.keys;
  const Wide diagonal = static_cast<Wide>(i) + r.shift;
  const auto at_most = [&](Wide e) { end = e < end ? e : end; };
  if (p.causal) at_most(diagonal + 1);
  if (p.window_right >= 0) at_most(diagonal + p.window_right + 1);
  if (p.window_left >= 0 && diagonal - p.window_left > 0) first = diagonal - p.window_left;
  if (end < 0) end = 0;
  return {static_cast<int>(first < end ? first : end), static_cast<int>(end)};
}

// The score of a key that is seen, from scale * (q . k), in units of ln 2: for powers of two.
__device__ inline float scored(const AttentionSizes& p, const AttentionData& data, float s, int b, int h, int i, int j,
                               int shift, float slope) {
  if (p.softcap > 0) s = p.softcap * tanhf(s / p.softcap);
  if (p.mask) {
    const Wide at = b * p.mask_stride[0] + h * p.mask_stride[1] + i * p.mask_stride[2] + j * p.mask_stride[3];
    if (p.mask == 1) s += static_cast<const float*>(data.mask)[at];
    else if (!static_cast<const unsigned char*>(data.mask)[at]) return -kInfinity;
  }
  if (p.alibi) s += slope * static_cast<float>(static_cast<Wide>(j) - i - shift);
  return s * kLog2E;
}

}  // namespace trine
