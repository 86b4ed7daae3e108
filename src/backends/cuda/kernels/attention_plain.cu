// Attention of any kind in f32: a block has 32 queries of a head, each of its 8 warps 4 of them; a lane has a key while
// scores are made, and 32nd columns while values are added. Columns past 256 belong to other blocks.
#include "attention.cuh"
#include "overlap.cuh"

namespace trine {

// 1 / (1 - probability) or 0, by Philox4x32-10 (Salmon et al. 2011): see dnn::AttentionProblem.
__device__ inline float kept(const AttentionSizes& p, const AttentionData& data, Wide element) {
  const unsigned long long counter = data.random[1] + static_cast<unsigned long long>(element / 4);
  unsigned x[4] = {static_cast<unsigned>(counter), static_cast<unsigned>(counter >> 32), 0, 0};
  unsigned k0 = static_cast<unsigned>(data.random[0]), k1 = static_cast<unsigned>(data.random[0] >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const unsigned long long a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
    const unsigned first = static_cast<unsigned>(b >> 32) ^ x[1] ^ k0,
                   third = static_cast<unsigned>(a >> 32) ^ x[3] ^ k1;
    x[0] = first, x[1] = static_cast<unsigned>(b), x[2] = third, x[3] = static_cast<unsigned>(a);
  }
  const double u = x[element % 4] * 0x1p-32;
  return u >= static_cast<double>(p.dropout) ? static_cast<float>(1 / (1 - static_cast<double>(p.dropout))) : 0.f;
}

constexpr int kDepth = 32;  // of q and k at a time

template <class T>
__global__ void __launch_bounds__(256)
    attention_plain(AttentionSizes p, const void* q_data, const void* k_data, const void* v_data, const void* mask,
                    const int* q_lens, const int* kv_lens, const float* slopes, const unsigned long long* random,
                    void* y_data, float* lse, Wide* fault) {
  meet_neighbours();
  const AttentionData data{q_data, k_data, v_data, mask, q_lens, kv_lens, slopes, random, y_data, lse, fault};
  __shared__ float tile_q[32][kDepth], tile_k[32][kDepth + 1];
  __shared__ float tile_v[32][256];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int block = static_cast<int>(blockIdx.x);
  const int chunks = (p.dv + 255) / 256, column = block % chunks * 256;
  block /= chunks;
  const int first = block % p.row_tiles * 32;
  block /= p.row_tiles;
  const int h = block % p.heads, b = block / p.heads, kv_head = h / (p.heads / p.kv_heads);
  const int columns = p.dv - column < 256 ? p.dv - column : 256;
  const Reach reach = reach_of(p, data, b);
  const T* q = static_cast<const T*>(data.q) + b * p.q[0] + h * p.q[1];
  const T* k = static_cast<const T*>(data.k) + b * p.k[0] + kv_head * p.k[1];
  const T* v = static_cast<const T*>(data.v) + b * p.v[0] + kv_head * p.v[1] + column;
  const float slope = p.alibi ? data.slopes[h] : 0.f;
  Seen seen[4], of_block{p.kv_len, 0};
  for (int i = first; i < first + 32 && i < p.q_len; ++i) {
    const Seen s = seen_by(p, reach, i);
    if (s.first >= s.end) continue;
    of_block.first = s.first < of_block.first ? s.first : of_block.first;
    of_block.end = s.end > of_block.end ? s.end : of_block.end;
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int i = first + warp * 4 + r;
    seen[r] = i < p.q_len ? seen_by(p, reach, i) : Seen{0, 0};
  }
  float most[4], sum[4] = {}, y[4][8] = {};
#pragma unroll
  for (int r = 0; r < 4; ++r) most[r] = -kInfinity;
  for (int key = of_block.first; key < of_block.end; key += 32) {
    float s[4] = {};
    for (int d = 0; d < p.d; d += kDepth) {
      const int depth = p.d - d < kDepth ? p.d - d : kDepth;
      __syncthreads();
      for (int id = static_cast<int>(threadIdx.x); id < 32 * kDepth; id += 256) {
        const int row = id / kDepth, e = id % kDepth, i = first + row, j = key + row;
        tile_q[row][e] = i < p.q_len && e < depth ? widened(q[i * p.q[2] + d + e]) : 0.f;
        tile_k[row][e] = j < of_block.end && e < depth ? widened(k[j * p.k[2] + d + e]) : 0.f;
      }
      __syncthreads();
      for (int e = 0; e < depth; ++e)
#pragma unroll
        for (int r = 0; r < 4; ++r) s[r] = fmaf(tile_q[warp * 4 + r][e], tile_k[lane][e], s[r]);
    }
    for (int id = static_cast<int>(threadIdx.x); id < 32 * 256; id += 256) {
      const int row = id / 256, e = id % 256, j = key + row;
      if (e < columns) tile_v[row][e] = j < of_block.end ? widened(v[j * p.v[2] + e]) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int i = first + warp * 4 + r, j = key + lane;
      const bool sees = j >= seen[r].first && j < seen[r].end;
      s[r] = sees ? scored(p, data, p.scale * s[r], b, h, i, j, reach.shift, slope) : -kInfinity;
      float larger = fmaxf(most[r], s[r]);
      for (int d = 16; d > 0; d /= 2) larger = fmaxf(larger, __shfl_xor_sync(~0u, larger, d));
      const float base = larger == -kInfinity ? 0.f : larger, before = exp2f(most[r] - base);
      s[r] = exp2f(s[r] - base);
      most[r] = larger, sum[r] = sum[r] * before + s[r];
      if (p.dropout > 0 && s[r] != 0.f)
        s[r] *= kept(p, data, ((static_cast<Wide>(b) * p.heads + h) * p.q_len + i) * p.kv_len + j);
#pragma unroll
      for (int c = 0; c < 8; ++c) y[r][c] *= before;
    }
    for (int j = 0; j < 32; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float weight = __shfl_sync(~0u, s[r], j);
        if (weight == 0.f) continue;  // hidden, and perhaps no number
#pragma unroll
        for (int c = 0; c < 8; ++c)
          if (c * 32 < columns) y[r][c] = fmaf(weight, tile_v[j][c * 32 + lane], y[r][c]);
      }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int i = first + warp * 4 + r;
    for (int d = 16; d > 0; d /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], d);
    if (i >= p.q_len) continue;
    const float inverse = sum[r] == 0.f ? 0.f : 1.f / sum[r];
    T* to = static_cast<T*>(data.y) + b * p.y[0] + h * p.y[1] + i * p.y[2] + column;
#pragma unroll
    for (int c = 0; c < 8; ++c)
      if (c * 32 + lane < columns) to[c * 32 + lane] = narrowed<T>(y[r][c] * inverse);
    if (data.lse && lane == 0 && column == 0)
      data.lse[(static_cast<Wide>(b) * p.heads + h) * p.q_len + i] =
          sum[r] == 0.f ? -kInfinity : (most[r] + log2f(sum[r])) * 0.69314718f;
  }
}

}  // namespace trine
