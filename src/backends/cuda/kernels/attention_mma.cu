// Attention by tiles with running maxima (flash attention: Dao 2023), products of f16 or bf16 by mma.sync with sums in
// f32. A block of 4 warps has 64 * MT rows; keys go by in tiles of BN, the next keys loaded while values are
// multiplied. One tile that holds all keys makes it exact softmax in one pass. Few rows and many keys: the keys are
// split among blocks, and attention_joined puts their parts together.
//
// A hidden value takes part as 0 * v in its tile: v must be finite there (past the lengths it is not read).
#include "attention_scores.cuh"
#include "overlap.cuh"

namespace trine {

// Where 16-byte chunk `c` of a row of D elements lies: eight rows at one chunk meet all banks.
template <int D>
__device__ inline int swizzled(int row, int c) {
  if constexpr (D == 32) return row * 4 + (c ^ (row >> 1 & 3));
  else if constexpr (D == 96) return row * 12 + (c < 8 ? c ^ (row & 7) : 8 + ((c - 8) ^ (row >> 1 & 3)));
  else return row * (D / 8) + (c ^ (row & 7));
}

template <class T, int D>
__device__ inline unsigned chunk_address(const T* tile, int row, int c) {
  return static_cast<unsigned>(__cvta_generic_to_shared(tile)) + 16u * static_cast<unsigned>(swizzled<D>(row, c));
}

__device__ inline void copy_async(unsigned to, const void* from, unsigned bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ inline void wait_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ inline void load_fragments(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ inline void load_transposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// Rows [0, valid) of `size` elements, `stride` apart, into a tile of `rows` rows of D; zeros around them.
template <class T, int D, int rows>
__device__ inline void load_tile(T* tile, const T* from, Wide stride, int valid, int size, bool wide) {
#pragma unroll 4
  for (int id = static_cast<int>(threadIdx.x); id < rows * (D / 8); id += 128) {
    const int row = id / (D / 8), c = id % (D / 8), left = row < valid ? size - 8 * c : 0;
    const T* at = from + (left > 0 ? row * stride + 8 * c : 0);
    if (wide) {
      copy_async(chunk_address<T, D>(tile, row, c), at, left > 0 ? 16 : 0);
    } else {
      T* to = tile + 8 * swizzled<D>(row, c);
      for (int i = 0; i < 8; ++i) to[i] = i < left ? at[i] : narrowed<T>(0.f);
    }
  }
}

// Scores of a tile of keys: NT fragments of 8 columns.
template <class T, int D, int NT>
__device__ inline void score_tile(float (&s)[NT][4], const T* q, const T* k, int row, int lane) {
#pragma unroll
  for (int step = 0; step < D / 16; ++step) {
    unsigned a[4];
    load_fragments(a, chunk_address<T, D>(q, row + (lane & 15), 2 * step + (lane >> 4)));
#pragma unroll
    for (int n = 0; n < NT; n += 2) {
      unsigned b[4];
      load_fragments(b, chunk_address<T, D>(k, 8 * n + (lane & 7) + (lane >> 4 << 3), 2 * step + (lane >> 3 & 1)));
      multiply(T{}, s[n], a, b[0], b[1]);
      multiply(T{}, s[n + 1], a, b[2], b[3]);
    }
  }
}

struct RowState : ScoreRow {
  float most, sum;
};

// exp of the scores, in `s`; the row's maximum and sum go on, what was summed before is scaled. `unit` turns scores
// into units of ln 2.
template <int NT, int ND>
__device__ inline void soften(float (&s)[NT][4], float (&y)[ND][4], RowState (&rows)[2], float unit) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float most = rows[r].most;
#pragma unroll
    for (int n = 0; n < NT; ++n) most = fmaxf(most, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
    const float base = most == -kInfinity ? 0.f : most * unit;
    const float before = power_of_two(fmaf(rows[r].most, unit, -base));
    float sum = 0;
#pragma unroll
    for (int n = 0; n < NT; ++n)
#pragma unroll
      for (int e = 2 * r; e < 2 * r + 2; ++e) sum += s[n][e] = power_of_two(fmaf(s[n][e], unit, -base));
    rows[r].most = most, rows[r].sum = rows[r].sum * before + sum;
#pragma unroll
    for (int n = 0; n < ND; ++n) y[n][2 * r] *= before, y[n][2 * r + 1] *= before;
  }
}

template <class T, int D, int NT, int ND>
__device__ inline void add_values(float (&y)[ND][4], const float (&s)[NT][4], const T* v, int lane) {
#pragma unroll
  for (int step = 0; step < NT / 2; ++step) {
    const unsigned a[4] = {pair(T{}, s[2 * step][0], s[2 * step][1]), pair(T{}, s[2 * step][2], s[2 * step][3]),
                           pair(T{}, s[2 * step + 1][0], s[2 * step + 1][1]),
                           pair(T{}, s[2 * step + 1][2], s[2 * step + 1][3])};
#pragma unroll
    for (int n = 0; n < ND; n += 2) {
      unsigned b[4];
      load_transposed(b, chunk_address<T, D>(v, 16 * step + (lane & 15), n + (lane >> 4)));
      multiply(T{}, y[n], a, b[0], b[1]);
      multiply(T{}, y[n + 1], a, b[2], b[3]);
    }
  }
}

// `parts`, of split keys: [split][row of all][dv], then the log-sum-exp in units of ln 2 [split][row of all].
template <class T, int D, int MT, int BN, int scores>
__global__ void __launch_bounds__(128)
    attention_mma(AttentionSizes p, const void* q_data, const void* k_data, const void* v_data, const void* mask,
                  const int* q_lens, const int* kv_lens, const float* slopes, const unsigned long long* random,
                  void* y_data, float* lse, Wide* fault, float* parts) {
  meet_neighbours();
  const AttentionData data{q_data, k_data, v_data, mask, q_lens, kv_lens, slopes, random, y_data, lse, fault};
  constexpr int NT = BN / 8, ND = D / 8, kRows = 64 * MT;
  constexpr bool plain = scores == kPlain;
  extern __shared__ __align__(128) unsigned char memory[];
  T* tile_q = reinterpret_cast<T*>(memory);
  T *tile_k = tile_q + kRows * D, *tile_v = tile_k + BN * D;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  // Blocks of one head are neighbours; with causal masks the long rows come first.
  int block = static_cast<int>(blockIdx.x);
  const int first_row = (p.row_tiles - 1 - block % p.row_tiles) * kRows;
  block /= p.row_tiles;
  const int split = block % p.splits;
  block /= p.splits;
  const int groups = p.heads / p.pack, b = block / groups, h0 = block % groups * p.pack;
  const int kv_head = h0 / (p.heads / p.kv_heads);
  const Reach reach = reach_of(p, data, b);
  const T* q = static_cast<const T*>(data.q) + b * p.q[0] + h0 * p.q[1];
  const T* k = static_cast<const T*>(data.k) + b * p.k[0] + kv_head * p.k[1];
  const T* v = static_cast<const T*>(data.v) + b * p.v[0] + kv_head * p.v[1];
  const bool wide_k = aligned<T, 8>(k) && p.k[2] % 8 == 0 && p.d % 8 == 0;
  const bool wide_v = aligned<T, 8>(v) && p.v[2] % 8 == 0 && p.dv % 8 == 0;

  // The keys that any row of the block sees, in tiles; this split's.
  const int last_row = first_row + kRows < p.rows ? first_row + kRows - 1 : p.rows - 1;
  const int last_query = last_row / p.pack < reach.queries ? last_row / p.pack : reach.queries - 1;
  const Seen low = seen_by(p, reach, first_row / p.pack), high = seen_by(p, reach, last_query < 0 ? 0 : last_query);
  int begin = (low.first < high.first && low.end > 0 ? low.first : high.first) / BN;
  if (low.end == 0) begin = 0;
  int end = (high.end + BN - 1) / BN;
  if (end < begin) end = begin;
  const int each = (end - begin + p.splits - 1) / p.splits;
  begin += split * each;
  end = end < begin + each ? end : begin + each;

  const auto load_keys = [&](int tile) {
    load_tile<T, D, BN>(tile_k, k + static_cast<Wide>(tile) * BN * p.k[2], p.k[2], reach.keys - tile * BN, p.d, wide_k);
  };
  const auto load_values = [&](int tile) {
    load_tile<T, D, BN>(tile_v, v + static_cast<Wide>(tile) * BN * p.v[2], p.v[2], reach.keys - tile * BN, p.dv,
                        wide_v);
  };
  for (int id = static_cast<int>(threadIdx.x); id < kRows * (D / 8); id += 128) {
    const int row = id / (D / 8), c = id % (D / 8), r = first_row + row;
    const int left = r < p.rows ? p.d - 8 * c : 0;
    const T* at = left > 0 ? q + r % p.pack * p.q[1] + r / p.pack * p.q[2] + 8 * c : q;
    if (left >= 8 && aligned<T, 8>(at)) {
      copy_async(chunk_address<T, D>(tile_q, row, c), at, 16);
    } else {
      T* to = tile_q + 8 * swizzled<D>(row, c);
      for (int i = 0; i < 8; ++i) to[i] = i < left ? at[i] : narrowed<T>(0.f);
    }
  }
  if (begin < end) load_keys(begin);
  commit();
  if (begin < end) load_values(begin);
  commit();

  RowState rows[MT][2];
  float y[MT][ND][4];
#pragma unroll
  for (int m = 0; m < MT; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + (warp * MT + m) * 16 + lane / 4 + 8 * r, query = row / p.pack;
      rows[m][r] = {{query, h0 + row % p.pack, seen_by(p, reach, row < p.rows ? query : p.q_len)}, -kInfinity, 0.f};
    }
#pragma unroll
    for (int n = 0; n < ND; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) y[m][n][e] = 0.f;
  }
  const float* key_mask = static_cast<const float*>(data.mask) + b * p.mask_stride[0];
  for (int tile = begin; tile < end; ++tile) {
    float2 added[scores == kKeyMask ? NT : 1];
    if constexpr (scores == kKeyMask) load_key_mask<NT>(added, key_mask, tile * BN + lane % 4 * 2, reach.keys);
    wait_but<1>();
    __syncthreads();
    float s[MT][NT][4];
#pragma unroll
    for (int m = 0; m < MT; ++m) {
#pragma unroll
      for (int n = 0; n < NT; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) s[m][n][e] = 0.f;
      score_tile<T, D, NT>(s[m], tile_q, tile_k, (warp * MT + m) * 16, lane);
    }
    if (tile + 1 < end) {
      __syncthreads();
      load_keys(tile + 1);
    }
    commit();
#pragma unroll
    for (int m = 0; m < MT; ++m) {
#pragma unroll
      for (int r = 0; r < 2; ++r)
        finish_scores<scores>(s[m], r, tile * BN, lane, p, data, b, rows[m][r], reach, added);
      soften<NT, ND>(s[m], y[m], rows[m], plain ? p.scale * kLog2E : 1.f);
    }
    wait_but<1>();
    __syncthreads();
#pragma unroll
    for (int m = 0; m < MT; ++m) add_values<T, D, NT, ND>(y[m], s[m], tile_v, lane);
    if (tile + 1 < end) {
      __syncthreads();
      load_values(tile + 1);
    }
    commit();
  }
  wait_but<0>();

  // Rows of a warp are its own in tile_q too: results pass through it to be written 16 bytes at a time.
  const Wide all_rows = static_cast<Wide>(p.batch) * p.heads * p.q_len;
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      RowState& row = rows[m][r];
      row.sum += __shfl_xor_sync(~0u, row.sum, 1);
      row.sum += __shfl_xor_sync(~0u, row.sum, 2);
      const int in_tile = (warp * MT + m) * 16 + lane / 4 + 8 * r;
      const bool exists = first_row + in_tile < p.rows;
      const float inverse = row.sum == 0.f ? 0.f : 1.f / row.sum;
      const float unit = plain ? p.scale * kLog2E : 1.f;
      const float total = row.sum == 0.f ? -kInfinity : row.most * unit + log2f(row.sum);
      const Wide place = (static_cast<Wide>(b) * p.heads + row.head) * p.q_len + row.query;
      if (exists && lane % 4 == 0) {
        if (p.splits > 1) parts[p.splits * all_rows * p.dv + split * all_rows + place] = total;
        else if (data.lse) data.lse[place] = total * 0.69314718f;
      }
#pragma unroll
      for (int n = 0; n < ND; ++n) {
        const float first = y[m][n][2 * r] * inverse, second = y[m][n][2 * r + 1] * inverse;
        const int d = 8 * n + lane % 4 * 2;
        if (p.splits > 1) {
          float* to = parts + (split * all_rows + place) * p.dv + d;
          if (exists && d < p.dv) to[0] = first;
          if (exists && d + 1 < p.dv) to[1] = second;
        } else {
          *reinterpret_cast<unsigned*>(tile_q + 8 * swizzled<D>(in_tile, n) + lane % 4 * 2) = pair(T{}, first, second);
        }
      }
    }
  if (p.splits > 1) return;
  __syncwarp();
  for (int id = lane; id < 16 * MT * (D / 8); id += 32) {
    const int in_tile = warp * MT * 16 + id / (D / 8), c = id % (D / 8), row = first_row + in_tile;
    if (row >= p.rows || 8 * c >= p.dv) continue;
    T* to = static_cast<T*>(data.y) + b * p.y[0] + (h0 + row % p.pack) * p.y[1] + row / p.pack * p.y[2] + 8 * c;
    const auto piece = *reinterpret_cast<const Pack<T, 8>*>(tile_q + 8 * swizzled<D>(in_tile, c));
    store<T, 8>(to, piece, static_cast<unsigned>(p.dv - 8 * c), aligned<T, 8>(to));
  }
}

// Parts of split keys into one; a warp has a row.
template <class T>
__global__ void __launch_bounds__(256)
    attention_joined(AttentionSizes p, const void* q_data, const void* k_data, const void* v_data, const void* mask,
                     const int* q_lens, const int* kv_lens, const float* slopes, const unsigned long long* random,
                     void* y_data, float* lse, Wide* fault, const float* parts) {
  meet_neighbours();
  const AttentionData data{q_data, k_data, v_data, mask, q_lens, kv_lens, slopes, random, y_data, lse, fault};
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Wide all_rows = static_cast<Wide>(p.batch) * p.heads * p.q_len;
  const Wide place = static_cast<Wide>(blockIdx.x) * 8 + threadIdx.x / 32;
  if (place >= all_rows) return;
  const float* sums = parts + p.splits * all_rows * p.dv + place;
  float most = -kInfinity, sum = 0;
  for (int s = 0; s < p.splits; ++s) most = fmaxf(most, sums[s * all_rows]);
  const float base = most == -kInfinity ? 0.f : most;
  for (int s = 0; s < p.splits; ++s) sum += exp2f(sums[s * all_rows] - base);
  if (data.lse && lane == 0) data.lse[place] = sum == 0.f ? -kInfinity : (base + log2f(sum)) * 0.69314718f;
  const float inverse = sum == 0.f ? 0.f : 1.f / sum;
  const int i = static_cast<int>(place % p.q_len);
  const Wide head = place / p.q_len;
  T* to = static_cast<T*>(data.y) + head / p.heads * p.y[0] + head % p.heads * p.y[1] + i * p.y[2];
  for (int d = lane; d < p.dv; d += 32) {
    float y = 0;
    for (int s = 0; s < p.splits; ++s) {
      const float weight = exp2f(sums[s * all_rows] - base) * inverse;
      if (weight != 0.f) y += weight * parts[(s * all_rows + place) * p.dv + d];
    }
    to[d] = narrowed<T>(y);
  }
}

}  // namespace trine
