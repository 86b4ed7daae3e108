// Depthwise convolutions: a thread makes eight channels of kStrip neighbouring outputs of a line. Weights are f32,
// [kernel position][channels].
#include "contraction.cuh"

using namespace trine::contraction;

constexpr int kStrip = 4, kThreads = 128;

template <int kType, bool kOverlap>
__global__ void __launch_bounds__(kThreads)
    conv_depthwise(const __grid_constant__ Product p, const __grid_constant__ Window w,
                   const __grid_constant__ Finish f, int aligned, int y_aligned, const void* a, const void* b,
                   const void* bias, const void* residual, const float* scale, void* y) {
  __shared__ float rows[kThreads][9];  // odd: neighbours' numbers lie in other banks
  wait_for_results<kOverlap>();
  const int pieces = p.columns / 8, strips = (w.out[2] + kStrip - 1) / kStrip;
  const int lines = p.rows / w.out[2];
  int index = blockIdx.x * kThreads + threadIdx.x;
  const int channel = index % pieces * 8;
  index /= pieces;
  const int x0 = index % strips * kStrip, line = index / strips;
  if (line >= lines) return;
  const bool fast = aligned && (reinterpret_cast<unsigned long long>(a) & 15) == 0;
  const int y_out = line % w.out[1], z_out = line / w.out[1] % w.out[0];
  const long long image = line / w.out[1] / w.out[0] * w.image + channel;
  const int z0 = origin_of(w, 0, z_out), y0 = origin_of(w, 1, y_out);
  const float* weights = static_cast<const float*>(b) + channel;
  float sums[kStrip][8] = {};
  for (int kz = 0; kz < w.kernel[0]; ++kz)
    for (int ky = 0; ky < w.kernel[1]; ++ky) {
      int z, row;
      if (!source_of(w, 0, z0, kz, z) || !source_of(w, 1, y0, ky, row)) continue;
      const long long start = image + ((long long)z * w.in[1] + row) * w.in[2] * w.pixel;
      for (int kx = 0; kx < w.kernel[2]; ++kx) {
        float weight[8];
        eight_at(kF32, weights, (long long)((kz * w.kernel[1] + ky) * w.kernel[2] + kx) * p.columns, true, weight);
#pragma unroll
        for (int i = 0; i < kStrip; ++i) {
          int at;
          if (!source_of(w, 2, origin_of(w, 2, x0 + i), kx, at)) continue;
          float x[8];
          eight_at(kType, a, start + at * w.pixel, fast, x);
#pragma unroll
          for (int c = 0; c < 8; ++c) sums[i][c] = fmaf(x[c], weight[c], sums[i][c]);
        }
      }
    }
  const FinishOperands operands{bias, residual, scale, y};
#pragma unroll 1
  for (int part = 0; part < kStrip && x0 + part < w.out[2]; ++part) {
#pragma unroll
    for (int i = 0; i < kStrip; ++i)
      if (i == part)
#pragma unroll
        for (int c = 0; c < 8; ++c) rows[threadIdx.x][c] = sums[i][c];
    finish_row(f, operands, rows[threadIdx.x], 8, ((long long)line * w.out[2] + x0 + part) * p.y_row + channel, channel,
               y_aligned, nullptr);
  }
}
