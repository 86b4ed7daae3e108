// Products of one to four rows by a matrix [columns][depth]: a warp makes one column of all rows, reading the matrix
// once, 16 bytes a lane.
#include "finish_columns.cuh"

using namespace trine::contraction;

constexpr int kWarps = 4;

// kType: of both operands; -1: as they say.
template <int kRows, int kType, bool kOverlap>
__global__ void __launch_bounds__(kWarps * 32)
    matmul_rows(const __grid_constant__ Product p, const __grid_constant__ Finish f, const void* a, const void* b,
                const void* bias, const void* residual, const float* scale, void* y) {
  wait_for_results<kOverlap>();
  const int lane = threadIdx.x % 32, column = blockIdx.x % p.column_tiles * kWarps + threadIdx.x / 32;
  const int member = blockIdx.x / p.column_tiles;
  if (column >= p.columns) return;
  long long a_start, b_start;
  batch_offsets(p.batches, member, a_start, b_start);
  b_start += column * p.b_column;
  const auto begins_well = [](const void* from, int type, long long start, long long step) {
    return (reinterpret_cast<unsigned long long>(from) & 15) == 0 && start % 8 == 0 && step % 8 == 0;
  };
  const int a_type = kType < 0 ? p.a_type : kType, b_type = kType < 0 ? p.b_type : kType;
  const bool fast_a = begins_well(a, a_type, a_start, kRows > 1 ? p.a_row : 0);
  const bool fast_b = begins_well(b, b_type, b_start, 0);
  float sums[kRows] = {};
  const int whole = p.depth / 8 * 8;
  constexpr int kDeep = kRows == 1 ? 4 : 2;  // steps whose loads are under way at once
  const auto eight = [](int type, const void* from, long long at) __attribute__((always_inline)) {
    const uint4* words = reinterpret_cast<const uint4*>(static_cast<const char*>(from) + at * (type == kF32 ? 4 : 2));
    return OldEight{words[0], type == kF32 ? words[1] : make_uint4(0, 0, 0, 0)};
  };
  int done = lane * 8;
  if (fast_a && fast_b) {
#pragma unroll 1
    for (; done + (kDeep - 1) * 256 < whole; done += kDeep * 256) {
      OldEight weights[kDeep], rows[kDeep][kRows];
#pragma unroll
      for (int d = 0; d < kDeep; ++d) weights[d] = eight(b_type, b, b_start + done + d * 256);
#pragma unroll
      for (int d = 0; d < kDeep; ++d)
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          if (i < p.rows) rows[d][i] = eight(a_type, a, a_start + i * p.a_row + done + d * 256);
#pragma unroll
      for (int d = 0; d < kDeep; ++d) {
        float weight[8];
        unpack(b_type, weights[d], weight);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          if (i >= p.rows) continue;
          float x[8];
          unpack(a_type, rows[d][i], x);
#pragma unroll
          for (int c = 0; c < 8; ++c) sums[i] = fmaf(x[c], weight[c], sums[i]);
        }
      }
    }
  }
#pragma unroll 1
  for (int k = done; k < whole; k += 32 * 8) {
    float weight[8];
    eight_at(b_type, b, b_start + k, fast_b, weight);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (i >= p.rows) continue;
      float x[8];
      eight_at(a_type, a, a_start + i * p.a_row + k, fast_a, x);
#pragma unroll
      for (int c = 0; c < 8; ++c) sums[i] = fmaf(x[c], weight[c], sums[i]);
    }
  }
  if (const int k = whole + lane; k < p.depth) {
    const float weight = float_at(b_type, b, b_start + k);
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      if (i < p.rows) sums[i] = fmaf(float_at(a_type, a, a_start + i * p.a_row + k), weight, sums[i]);
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int far = 16; far > 0; far /= 2) sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], far);
  float sum = 0;  // lane i goes on with row i
#pragma unroll
  for (int i = 0; i < kRows; ++i)
    if (lane == i) sum = sums[i];
  if (lane < kRows && lane < p.rows)
    finish(f, FinishOperands{bias, residual, scale, y}, sum, member * p.y_batch + lane * p.y_row + column, column);
}
