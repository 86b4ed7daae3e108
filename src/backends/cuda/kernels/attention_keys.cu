// Attention of few keys, f16 or bf16, where time is latency: each warp of a block has 32 keys of a head, and tiles of 16
// rows go by. Operands go from memory into the fragments of mma.sync without a detour: a sum over d may be taken in any
// order, so a lane reads 16 bytes of a row of q and of k, and columns of y may be any, so it reads 16 bytes of a row of
// v. Each warp has its own softmax; their results meet in shared memory once for each tile.
//
// A hidden value takes part as 0 * v: v must be finite there (past the lengths it is not read).
#include "attention_scores.cuh"
#include "overlap.cuh"

namespace trine {

constexpr int kWarpKeys = 32;

// N elements side by side as words.
template <class T, int N>
__device__ __forceinline__ void load_words(unsigned* words, const T* from) {
  constexpr int kStep = N % 8 ? 4 : 8;
#pragma unroll
  for (int i = 0; i < N; i += kStep) {
    const Pack<T, kStep> piece = *reinterpret_cast<const Pack<T, kStep>*>(from + i);
    __builtin_memcpy(words + i / 2, &piece, sizeof piece);
  }
}

// Rows of a matrix; those from `count` on are zeros.
template <class T>
struct Rows {
  const T* at;
  Wide stride;
  int count;

  __device__ __forceinline__ const T* row(int i) const { return at + (i < count ? i * stride : 0); }
};

// The first rows, which do not lie at multiples of 16 bytes, one after the other in memory of the warp's own.
template <class T, int D, int kCount>
__device__ __forceinline__ Rows<T> staged(T* to, const Rows<T>& from, int lane) {
  __syncwarp();  // what lay there is read
#pragma unroll 1
  for (int i = lane; i < kCount * D; i += 32)
    if (i / D < from.count) to[i] = from.row(i / D)[i % D];
  __syncwarp();
  return {to, D, from.count};
}

// Fragments of k: keys 8 n + lane / 4, of each 32 columns the eight from 8 (lane % 4) on.
template <class T, int D>
__device__ __forceinline__ void load_keys(unsigned (&f)[4][D / 8], const Rows<T>& k, int lane) {
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int key = 8 * n + lane / 4;
    const T* row = k.row(key) + lane % 4 * 8;
#pragma unroll
    for (int g = 0; g < D / 8; g += 4) {
      f[n][g] = f[n][g + 1] = f[n][g + 2] = f[n][g + 3] = 0;
      if (key < k.count) load_words<T, 8>(f[n] + g, row + 8 * g);
    }
  }
}

// Fragments of v: column i of tile `n` of columns is D / 8 * i + n, so that a lane reads D / 8 side by side.
template <class T, int D>
__device__ __forceinline__ void load_values(unsigned (&f)[2][2][D / 8], const Rows<T>& v, int lane) {
#pragma unroll
  for (int step = 0; step < 2; ++step)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned words[2][D / 16] = {};
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int key = 16 * step + 8 * half + lane % 4 * 2 + e;
        if (key < v.count) load_words<T, D / 8>(words[e], v.row(key) + lane / 4 * (D / 8));
      }
#pragma unroll
      for (int n = 0; n < D / 8; ++n)
        f[step][half][n] = __byte_perm(words[0][n / 2], words[1][n / 2], n % 2 ? 0x7632 : 0x5410);
    }
}

// Where four floats of a row of sums lie: neighbouring lanes' meet all banks.
template <int D>
__device__ __forceinline__ int sums_place(int row, int four) {
  return row * (D / 4) + (four ^ (four >> 3 & 1) ^ (row & 1) << 1);
}

// `warps` * 32 threads; p.row_tiles blocks for each head and `pack` of a batch entry.
template <class T, int D, int warps, int scores>
__global__ void __launch_bounds__(32 * warps, D > 64 ? 1 : warps <= 4 ? 3 : warps <= 8 ? 2 : 1)
    attention_keys(AttentionSizes p, const void* q_data, const void* k_data, const void* v_data, const void* mask,
                   const int* q_lens, const int* kv_lens, const float* slopes, const unsigned long long* random,
                   void* y_data, float* lse, Wide* fault) {
  meet_neighbours();
  const AttentionData data{q_data, k_data, v_data, mask, q_lens, kv_lens, slopes, random, y_data, lse, fault};
  extern __shared__ __align__(16) unsigned char memory[];
  float4* all_sums = reinterpret_cast<float4*>(memory);  // [warp][row][D]
  __shared__ float2 states[16][warps];                   // each warp's maximum in units of ln 2, and sum
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int groups = p.heads / p.pack, place = static_cast<int>(blockIdx.x) / p.row_tiles;
  const int b = place / groups, h0 = place % groups * p.pack, kv_head = h0 / (p.heads / p.kv_heads);
  const Reach reach = reach_of(p, data, b);
  const T* q = static_cast<const T*>(data.q) + b * p.q[0] + h0 * p.q[1];
  const T* k = static_cast<const T*>(data.k) + b * p.k[0] + kv_head * p.k[1];
  const T* v = static_cast<const T*>(data.v) + b * p.v[0] + kv_head * p.v[1];
  T* y = static_cast<T*>(data.y) + b * p.y[0] + h0 * p.y[1];
  const bool wide = aligned<T, 8>(q) && aligned<T, 8>(k) && aligned<T, 8>(v);
  float4* sums = all_sums + warp * (16 * D / 4);
  T* stage = reinterpret_cast<T*>(sums);

  const int first_key = warp * kWarpKeys, left = reach.keys - first_key;
  const Rows<T> own_keys{k + first_key * p.k[2], p.k[2], left}, own_values{v + first_key * p.v[2], p.v[2], left};
  unsigned keys[4][D / 8], values[2][2][D / 8];
  if (wide) {
    load_keys<T, D>(keys, own_keys, lane);
    load_values<T, D>(values, own_values, lane);
  } else {
    load_keys<T, D>(keys, staged<T, D, kWarpKeys>(stage, own_keys, lane), lane);
    load_values<T, D>(values, staged<T, D, kWarpKeys>(stage, own_values, lane), lane);
  }
  float2 added[scores == kKeyMask ? 4 : 1];
  if constexpr (scores == kKeyMask)
    load_key_mask<4>(added, static_cast<const float*>(data.mask) + b * p.mask_stride[0], first_key + lane % 4 * 2,
                     reach.keys);

  for (int first_row = static_cast<int>(blockIdx.x) % p.row_tiles * 16; first_row < p.rows;
       first_row += 16 * p.row_tiles) {
    ScoreRow rows[2];
    unsigned queries[2][D / 8] = {};
    if (!wide) __syncwarp();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + lane / 4 + 8 * r, query = row / p.pack, head = row % p.pack;
      const bool there = row < p.rows;
      rows[r] = {query, h0 + head, seen_by(p, reach, there ? query : p.q_len)};
      const T* from = q + (there ? head * p.q[1] + query * p.q[2] : 0);
      if (!wide) {  // four lanes have a row
        T* to = stage + (lane / 4 + 8 * r) * D;
#pragma unroll 1
        for (int i = lane % 4; i < D; i += 4) to[i] = from[i];
        __syncwarp();
        from = to;
      }
#pragma unroll
      for (int g = 0; g < D / 8; g += 4)
        if (there) load_words<T, 8>(queries[r] + g, from + 8 * g + lane % 4 * 8);
    }
    if (!wide) __syncwarp();
    float s[4][4] = {};
#pragma unroll
    for (int i = 0; i < D / 8; i += 2) {
      const unsigned a[4] = {queries[0][i], queries[1][i], queries[0][i + 1], queries[1][i + 1]};
#pragma unroll
      for (int n = 0; n < 4; ++n) multiply(T{}, s[n], a, keys[n][i], keys[n][i + 1]);
    }

    const float unit = scores == kPlain ? p.scale * kLog2E : 1.f;
    float2 state[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      finish_scores<scores>(s, r, first_key, lane, p, data, b, rows[r], reach, added);
      float most = -kInfinity, sum = 0;
#pragma unroll
      for (int n = 0; n < 4; ++n) most = fmaxf(most, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      const float base = most == -kInfinity ? 0.f : most * unit;
#pragma unroll
      for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int e = 2 * r; e < 2 * r + 2; ++e) sum += s[n][e] = power_of_two(fmaf(s[n][e], unit, -base));
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      state[r] = make_float2(most == -kInfinity ? most : base, sum);
    }

    float products[D / 8][4] = {};
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const float(&low)[4] = s[2 * step], (&high)[4] = s[2 * step + 1];
      const unsigned a[4] = {pair(T{}, low[0], low[1]), pair(T{}, low[2], low[3]), pair(T{}, high[0], high[1]),
                             pair(T{}, high[2], high[3])};
#pragma unroll
      for (int n = 0; n < D / 8; ++n) multiply(T{}, products[n], a, values[step][0][n], values[step][1][n]);
    }
    // A lane has D / 4 columns side by side of each of its two rows.
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = lane / 4 + 8 * r;
      if (lane % 4 == 0) states[row][warp] = state[r];
#pragma unroll
      for (int i = 0; i < D / 16; ++i) {
        const int e = 2 * r + i / (D / 32), n = i % (D / 32) * 4;
        sums[sums_place<D>(row, lane % 4 * (D / 16) + i)] =
            make_float4(products[n][e], products[n + 1][e], products[n + 2][e], products[n + 3][e]);
      }
    }
    __syncthreads();

    for (int id = static_cast<int>(threadIdx.x); id < 16 * (D / 8); id += 32 * warps) {
      const int in_tile = id / (D / 8), c = id % (D / 8), row = first_row + in_tile;
      if (row >= p.rows) break;
      float most = -kInfinity, sum = 0, total[8] = {};
#pragma unroll
      for (int w = 0; w < warps; ++w) most = fmaxf(most, states[in_tile][w].x);
      const float base = most == -kInfinity ? 0.f : most;
#pragma unroll
      for (int w = 0; w < warps; ++w) {
        const float2 part = states[in_tile][w];
        const float weight = power_of_two(part.x - base);
        sum = fmaf(part.y, weight, sum);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float4 four = all_sums[w * (16 * D / 4) + sums_place<D>(in_tile, 2 * c + half)];
          total[4 * half] = fmaf(four.x, weight, total[4 * half]);
          total[4 * half + 1] = fmaf(four.y, weight, total[4 * half + 1]);
          total[4 * half + 2] = fmaf(four.z, weight, total[4 * half + 2]);
          total[4 * half + 3] = fmaf(four.w, weight, total[4 * half + 3]);
        }
      }
      const float inverse = sum == 0.f ? 0.f : 1.f / sum;
      const int query = row / p.pack, head = row % p.pack;
      if (data.lse && c == 0)
        data.lse[(static_cast<Wide>(b) * p.heads + h0 + head) * p.q_len + query] =
            sum == 0.f ? -kInfinity : (base + log2f(sum)) * 0.69314718f;
      Pack<T, 8> piece;
#pragma unroll
      for (int i = 0; i < 8; ++i) piece.at[i] = narrowed<T>(total[i] * inverse);
      T* to = y + head * p.y[1] + query * p.y[2] + 8 * c;
      store<T, 8>(to, piece, 8, aligned<T, 8>(to));
    }
    if (first_row + 16 * p.row_tiles < p.rows) __syncthreads();
  }
}

}  // namespace trine
