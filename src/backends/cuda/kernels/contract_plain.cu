// Contractions of any types, strides and shapes on plain arithmetic units: tiles of A and B as f32 (or i32) in shared
// memory, the next ones on their way in registers meanwhile. Convolutions read A where the window points.
#include "contraction.cuh"

using namespace trine::contraction;

constexpr int kDepth = 16;  // of a tile
constexpr int kSide = 16;   // 16 x 16 threads

__device__ inline float number_at(float, int type, int, const void* p, long long i) { return float_at(type, p, i); }
__device__ inline int number_at(int, int type, int zero, const void* p, long long i) {
  return byte_at(type, p, i) - zero;
}
__device__ inline float plus_product(float sum, float a, float b) { return fmaf(a, b, sum); }
__device__ inline int plus_product(int sum, int a, int b) { return int(unsigned(sum) + unsigned(a) * unsigned(b)); }

// What one thread fetches of A for a tile: one k of kRows rows, kSide apart.
template <class Sum, bool kConv, int kRows>
struct Fetcher {
  const Product& p;
  const Window& w;
  const void* a;
  int zero;
  int k;
  int position[3] = {}, channel = 0;  // of k, in a convolution
  long long base[kRows];              // -1: no such row
  int origin[kRows][3];

  __device__ __forceinline__ Fetcher(const Product& p_, const Window& w_, const void* a_, int zero_, int row, int k_,
                                     long long start)
      : p(p_), w(w_), a(a_), zero(zero_), k(k_) {
#pragma unroll
    for (int i = 0; i < kRows; ++i, row += kSide) {
      base[i] = row < p.rows ? start : -1;
      if constexpr (kConv) {
        int at = row;
#pragma unroll
        for (int axis = 2; axis >= 0; --axis) {
          origin[i][axis] = origin_of(w, axis, at % w.out[axis]);
          at /= w.out[axis];
        }
        if (row < p.rows) base[i] += at * w.image;
      } else if (row < p.rows) {
        base[i] += row * p.a_row;
      }
    }
    channel = k;
    normalise();
  }

  // Channels beyond the last are those of the next positions.
  __device__ __forceinline__ void normalise() {
    if constexpr (!kConv) return;
    while (channel >= w.channels && k < p.depth) {
      channel -= w.channels;
      if (++position[2] < w.kernel[2]) continue;
      position[2] = 0;
      if (++position[1] < w.kernel[1]) continue;
      position[1] = 0, ++position[0];
    }
  }

  __device__ __forceinline__ void next() {
    k += kDepth, channel += kDepth;
    normalise();
  }

  __device__ __forceinline__ void fetch(Sum (&to)[kRows]) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      to[i] = 0;
      if (base[i] < 0 || k >= p.depth) continue;
      if constexpr (kConv) {
        int z, y, x;
        if (!source_of(w, 0, origin[i][0], position[0], z) || !source_of(w, 1, origin[i][1], position[1], y) ||
            !source_of(w, 2, origin[i][2], position[2], x))
          continue;
        const long long pixel = ((long long)z * w.in[1] + y) * w.in[2] + x;
        to[i] = number_at(Sum(), p.a_type, zero, a, base[i] + pixel * w.pixel + channel * p.a_depth);
      } else {
        to[i] = number_at(Sum(), p.a_type, zero, a, base[i] + k * p.a_depth);
      }
    }
  }
};

template <class Sum, bool kConv, int kTile>
__global__ void __launch_bounds__(kSide* kSide)
    contract_plain(const __grid_constant__ Product p, const __grid_constant__ Window w,
                   const __grid_constant__ Finish f, const void* a, const void* b, const void* bias,
                   const void* residual, const float* scale, void* y) {
  constexpr int kEach = kTile / kSide;
  constexpr int kPad = 4;
  __shared__ __align__(16) Sum as[kDepth][kTile + kPad];
  __shared__ __align__(16) Sum bs[kDepth][kTile + kPad];
  const int thread = threadIdx.x, low = thread % kSide, high = thread / kSide;
  int block = blockIdx.x;
  const int column0 = block % p.column_tiles * kTile;
  block /= p.column_tiles;
  const int row0 = block % p.row_tiles * kTile, member = block / p.row_tiles;
  long long a_start, b_start;
  batch_offsets(p.batches, member, a_start, b_start);

  const int a_row = p.a_by_rows ? low : high, a_k = p.a_by_rows ? high : low;
  const int b_column = p.b_by_columns ? low : high, b_k = p.b_by_columns ? high : low;
  Fetcher<Sum, kConv, kEach> fetcher(p, w, a, f.in_zero, row0 + a_row, a_k, a_start);
  Sum next_a[kEach], next_b[kEach], sums[kEach][kEach] = {};
  const auto fetch_b = [&](int k) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int column = column0 + b_column + i * kSide;
      next_b[i] = 0;
      if (k < p.depth && column < p.columns)
        next_b[i] = number_at(Sum(), p.b_type, 0, b, b_start + k * p.b_depth + column * p.b_column);
    }
  };
  fetcher.fetch(next_a);
  fetch_b(b_k);
  for (int k0 = 0; k0 < p.depth; k0 += kDepth) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      as[a_k][a_row + i * kSide] = next_a[i];
      bs[b_k][b_column + i * kSide] = next_b[i];
    }
    __syncthreads();
    if (k0 + kDepth < p.depth) {
      fetcher.next();
      fetcher.fetch(next_a);
      fetch_b(k0 + kDepth + b_k);
    }
#pragma unroll 1
    for (int k = 0; k < kDepth; ++k) {
      Sum left[kEach], right[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) left[i] = as[k][high * kEach + i], right[i] = bs[k][low * kEach + i];
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] = plus_product(sums[i][j], left[i], right[j]);
    }
    __syncthreads();
  }
  // The epilogue is one loop over rows of sums in shared memory: small code, neighbouring stores.
  const FinishOperands operands{bias, residual, scale, y};
#pragma unroll 1
  for (int part = 0; part < kEach; ++part) {
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (i == part)
#pragma unroll
        for (int j = 0; j < kEach; ++j) as[high][low * kEach + j] = sums[i][j];
    __syncthreads();
#pragma unroll 1
    for (int n = 0; n < kEach; ++n) {
      const int i = n * kSide * kSide + thread;
      const int row = row0 + i / kTile * kEach + part, column = column0 + i % kTile;
      if (row < p.rows && column < p.columns)
        finish(f, operands, as[i / kTile][i % kTile], member * p.y_batch + row * p.y_row + column,
               member * p.column_batch + column);
    }
    __syncthreads();
  }
}

// Convolutions of small groups: a thread makes one output; neighbours are neighbouring channels. Weights [depth][M].
template <class Sum>
__global__ void __launch_bounds__(256)
    conv_direct(const __grid_constant__ Product p, const __grid_constant__ Window w, const __grid_constant__ Finish f,
                int group_columns, const void* a, const void* b, const void* bias, const void* residual,
                const float* scale, void* y) {
  const long long index = (long long)blockIdx.x * 256 + threadIdx.x;
  const int column = int(index % p.columns), row = int(index / p.columns);
  if (row >= p.rows) return;
  int at = row, origin[3];
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) {
    origin[axis] = origin_of(w, axis, at % w.out[axis]);
    at /= w.out[axis];
  }
  const long long start = at * w.image + column / group_columns * (w.channels * p.a_depth);
  Sum sum = 0;
  int k = 0;
  for (int kz = 0; kz < w.kernel[0]; ++kz)
    for (int ky = 0; ky < w.kernel[1]; ++ky)
      for (int kx = 0; kx < w.kernel[2]; ++kx, k += w.channels) {
        int sz, sy, sx;
        if (!source_of(w, 0, origin[0], kz, sz) || !source_of(w, 1, origin[1], ky, sy) ||
            !source_of(w, 2, origin[2], kx, sx))
          continue;
        const long long from = start + (((long long)sz * w.in[1] + sy) * w.in[2] + sx) * w.pixel;
        for (int c = 0; c < w.channels; ++c)
          sum = plus_product(sum, number_at(Sum(), p.a_type, f.in_zero, a, from + c * p.a_depth),
                             number_at(Sum(), p.b_type, 0, b, (k + c) * p.b_depth + column));
      }
  finish(f, FinishOperands{bias, residual, scale, y}, sum, row * p.y_row + column, column);
}
