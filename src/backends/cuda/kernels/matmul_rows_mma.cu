// Products of up to 16 rows by a matrix [columns][depth] of halves, which is read once: a block makes 8 kGroups
// columns, its warps share depth. Tensor cores (sm_80) take the rows as A; which k stands where in their step does not
// matter, so that a lane reads 16 bytes of one column at once and uses the same 16 bytes of its rows.
#include "contraction.cuh"
#include "mma.cuh"

using namespace trine::contraction;

constexpr int kWarps = 8, kStep = 32 * kWarps;  // of depth

// Eight halves that begin anywhere.
__device__ __noinline__ uint4 piece_slowly(const unsigned short* from) {
  const auto both = [&](int i) { return unsigned(from[2 * i]) | unsigned(from[2 * i + 1]) << 16; };
  return make_uint4(both(0), both(1), both(2), both(3));
}

template <class T, int kHalves, int kGroups, bool kOverlap>
__global__ void __launch_bounds__(kWarps * 32)
    matmul_rows_mma(const __grid_constant__ Product p, const __grid_constant__ Finish f, int constant_b, const void* a,
                    const void* b, const void* bias, const void* residual, const float* scale, void* y) {
  constexpr int kDeep = kGroups > 1 ? 4 : 8;  // steps whose loads are under way at once
  __shared__ float parts[kWarps][kGroups][kHalves][8][8];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, g = lane / 4, t = lane % 4;
  const int column0 = blockIdx.x % p.column_tiles * (8 * kGroups), member = blockIdx.x / p.column_tiles;
  long long a_start = 0, b_start = 0;
  if (p.batches.rank > 0) batch_offsets(p.batches, member, a_start, b_start);
  const auto aligned = [](const void* from) { return (reinterpret_cast<unsigned long long>(from) & 15) == 0; };
  const int k0 = warp * 32 + t * 8;
  const unsigned short* left = static_cast<const unsigned short*>(a) + a_start + g * p.a_row + k0;
  const unsigned short* right = static_cast<const unsigned short*>(b) + b_start + (column0 + g) * p.b_column + k0;
  const bool fast = aligned(left) && aligned(right);
  const auto piece = [&](const unsigned short* from, bool there, bool well) __attribute__((always_inline)) {
    if (!there) return make_uint4(0, 0, 0, 0);
    return well ? *reinterpret_cast<const uint4*>(from) : piece_slowly(from);
  };

  uint4 weights[kDeep][kGroups], rows[kDeep][kHalves];
  const auto load_weights = [&](int k, bool well) __attribute__((always_inline)) {
    const int steps = (p.depth - k0 - k + kStep - 1) / kStep;
#pragma unroll
    for (int i = 0; i < kDeep; ++i)
#pragma unroll
      for (int j = 0; j < kGroups; ++j)
        weights[i][j] =
            piece(right + j * 8 * p.b_column + k + i * kStep, i < steps && column0 + j * 8 + g < p.columns, well);
  };
  const auto load_rows = [&](int k, bool well) __attribute__((always_inline)) {
    const int steps = (p.depth - k0 - k + kStep - 1) / kStep;
#pragma unroll
    for (int i = 0; i < kDeep; ++i)
#pragma unroll
      for (int h = 0; h < kHalves; ++h)
        rows[i][h] = piece(left + h * 8 * p.a_row + k + i * kStep, i < steps && h * 8 + g < p.rows, well);
  };
  if (kOverlap) trine::let_next_begin();
  if (kOverlap && !constant_b) trine::wait_for_previous();
  if (fast) load_weights(0, true);
  if (kOverlap && constant_b) trine::wait_for_previous();
  float sums[kGroups][4] = {};
#pragma unroll 1
  for (int k = 0; k < p.depth; k += kDeep * kStep) {
    if (fast) {
      if (k) load_weights(k, true);
      load_rows(k, true);
    } else {
      load_weights(k, false);
      load_rows(k, false);
    }
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const uint4 low = rows[i][0], high = kHalves > 1 ? rows[i][kHalves - 1] : make_uint4(0, 0, 0, 0);
      const unsigned first[4] = {low.x, high.x, low.y, high.y}, second[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
        T::multiply(sums[j], first, weights[i][j].x, weights[i][j].y);
        T::multiply(sums[j], second, weights[i][j].z, weights[i][j].w);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kGroups; ++j)
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
      parts[warp][j][h][g][2 * t] = sums[j][2 * h], parts[warp][j][h][g][2 * t + 1] = sums[j][2 * h + 1];
  __syncthreads();
  const FinishOperands operands{bias, residual, scale, y};
#pragma unroll 1
  for (int i = thread; i < p.rows * 8 * kGroups; i += kWarps * 32) {
    const int row = i / (8 * kGroups), group = i / 8 % kGroups, column = column0 + group * 8 + i % 8;
    if (column >= p.columns) continue;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += parts[w][group][row / 8][row % 8][i % 8];
    finish(f, operands, sum, member * p.y_batch + row * p.y_row + column, column);
  }
}
