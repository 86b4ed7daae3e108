// What attention kernels on tensor cores share: products of fragments, and what is done to fragments of scores. In a
// fragment of 16 rows and 8 columns lane l holds of rows l / 4 and that + 8 the columns 2 (l % 4) and the next one.
#pragma once

#include "attention.cuh"

namespace trine {

__device__ inline void multiply(__half, float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply(__nv_bfloat16, float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline unsigned pair(__half, float a, float b) {
  const __half2 v = __floats2half2_rn(a, b);
  return *reinterpret_cast<const unsigned*>(&v);
}
__device__ inline unsigned pair(__nv_bfloat16, float a, float b) {
  const __nv_bfloat162 v = __floats2bfloat162_rn(a, b);
  return *reinterpret_cast<const unsigned*>(&v);
}

__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// A row of scores, of which a lane holds part.
struct ScoreRow {
  int query, head;
  Seen seen;
};

// Row r of the scores: scale, cap, mask, slopes; then in units of ln 2. `first` is the key of the first element.
template <int NT>
__device__ __forceinline__ void adjust_scores(float (&s)[NT][4], int r, int first, const AttentionSizes& p,
                                     const AttentionData& data, int b, const ScoreRow& row, const Reach& reach) {
  const auto each = [&](auto&& change) {
#pragma unroll
    for (int n = 0; n < NT; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e) change(s[n][2 * r + e], first + 8 * n + e);
  };
  each([&](float& x, int) { x *= p.scale; });
  if (p.softcap > 0) {  // tanh x = 1 - 2 / (exp 2x + 1)
    const float unit = 2 * kLog2E / p.softcap, cap = p.softcap;
    each([&](float& x, int) { x = cap - 2 * cap * __frcp_rn(power_of_two(x * unit) + 1.f); });
  }
  if (p.mask) {
    const Wide at = b * p.mask_stride[0] + row.head * p.mask_stride[1] + row.query * p.mask_stride[2];
    const Wide step = p.mask_stride[3];
    const auto* added = static_cast<const float*>(data.mask) + at;
    const auto* taken = static_cast<const unsigned char*>(data.mask) + at;
    const int end = row.seen.end;
    if (p.mask == 1) each([&](float& x, int j) { x = j < end ? x + added[j * step] : x; });
    else each([&](float& x, int j) { x = j < end && taken[j * step] ? x : -kInfinity; });
  }
  if (p.alibi) {
    const float slope = row.seen.end > 0 ? data.slopes[row.head] : 0.f;
    const int diagonal = row.query + reach.shift;
    each([&](float& x, int j) { x += slope * static_cast<float>(j - diagonal); });
  }
  each([&](float& x, int) { x *= kLog2E; });
}

// What is done to scores: anything; nothing, and scale > 0; an f32 mask of keys is added, the same for all heads and
// queries, and nothing else is done.
enum Scores : int { kAny, kPlain, kKeyMask };

// The mask of a lane's keys, in units of ln 2; `first` is its first key. Keys past the last have none.
template <int NT>
__device__ __forceinline__ void load_key_mask(float2 (&mask)[NT], const float* added, int first, int keys) {
  const bool pairs = aligned<float, 2>(added);
#pragma unroll
  for (int n = 0; n < NT; ++n) {
    const int j = first + 8 * n;
    mask[n] = make_float2(0.f, 0.f);
    if (pairs && j + 1 < keys) mask[n] = *reinterpret_cast<const float2*>(added + j);
    else if (j < keys) mask[n] = make_float2(added[j], j + 1 < keys ? added[j + 1] : 0.f);
    mask[n].x *= kLog2E, mask[n].y *= kLog2E;
  }
}

// Row r of the scores of keys from `tile` on, in units of ln 2 (but for kPlain): changed as `scores` says, -infinity
// where the row does not see the key. `added` is load_key_mask()'s.
template <int scores, int NT, int NA>
__device__ __forceinline__ void finish_scores(float (&s)[NT][4], int r, int tile, int lane, const AttentionSizes& p,
                                              const AttentionData& data, int b, const ScoreRow& row,
                                              const Reach& reach, const float2 (&added)[NA]) {
  const int first = tile + lane % 4 * 2;
  if constexpr (scores == kAny) adjust_scores<NT>(s, r, first, p, data, b, row, reach);
  if constexpr (scores == kKeyMask) {
#pragma unroll
    for (int n = 0; n < NT; ++n) {
      s[n][2 * r] = fmaf(s[n][2 * r], p.scale * kLog2E, added[n].x);
      s[n][2 * r + 1] = fmaf(s[n][2 * r + 1], p.scale * kLog2E, added[n].y);
    }
  }
  if (row.seen.first <= tile && row.seen.end >= tile + 8 * NT) return;
#pragma unroll
  for (int n = 0; n < NT; ++n)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int j = first + 8 * n + e;
      if (j < row.seen.first || j >= row.seen.end) s[n][2 * r + e] = -kInfinity;
    }
}

}  // namespace trine
