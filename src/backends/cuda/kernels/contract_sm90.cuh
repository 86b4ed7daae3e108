// What the contractions of compute capability 9.0 share: bringing blocks of both operands, and finishing sums.
#pragma once

#include "contract_params.cuh"
#include "element.cuh"
#include "epilogue.cuh"
#include "overlap.cuh"
#include "sm90.cuh"

namespace trine::sm90 {

constexpr int kBlockBytes = 128;  // of k
constexpr int kPad = 4;           // floats that keep rows of sums apart in the banks

// The thread that brings the data: blocks of k into a ring of stages, whatever tiles they are of.
template <class T, int kRows, int kColumns, bool kImage>
struct Loader {
  static constexpr unsigned kRowsBytes = kRows * kBlockBytes, kStageBytes = kRowsBytes + kColumns * kBlockBytes;
  static constexpr int kBlock = kBlockBytes / sizeof(T);
  const TensorMap &a, &b;
  const ContractParams& p;
  Shared ring, full, empty;
  int row = 0, column = 0;        // of the tile
  int image = 0, w = 0, h = 0;    // where its first window begins
  int stage = 0;
  unsigned parity = 1;            // of `empty`: at first all are

  // A block of k: its tap, as a number and as pixels, and its channels.
  struct Place {
    int tap, tap_w, dw, dh, channel;
  };

  __device__ __forceinline__ Place place_of(int block) const {
    const int tap = block / p.chunks, tap_h = tap / p.taps_w, tap_w = tap - tap_h * p.taps_w;
    return {tap, tap_w, tap_w * p.step_w, tap_h * p.step_h, (block - tap * p.chunks) * kBlock};
  }
  __device__ __forceinline__ void step(Place& at) const {
    at.channel += kBlock;
    if (at.channel < p.chunks * kBlock) return;
    at.channel = 0, ++at.tap, ++at.tap_w, at.dw += p.step_w;
    if (at.tap_w == p.taps_w) at.tap_w = 0, at.dw = 0, at.dh += p.step_h;
  }
  __device__ __forceinline__ void go_to(int to_row, int to_column) {
    row = to_row, column = to_column;
    if constexpr (kImage) {
      const int line = divided(row, p.out_w);
      image = divided(line, p.out_h);
      w = (row - line * p.out_w.divisor) * p.stride_w - p.pad_w;
      h = (line - image * p.out_h.divisor) * p.stride_h - p.pad_h;
    }
  }
  __device__ __forceinline__ void bring_b(const Place& at, int to) const {
    load_3d(ring + to * kStageBytes + kRowsBytes, b, at.channel, at.tap, column, full + 8 * to);
  }
  __device__ __forceinline__ void bring_a(const Place& at, int to_stage) const {
    const Shared to = ring + to_stage * kStageBytes, barrier = full + 8 * to_stage;
    if constexpr (kImage)
      load_im2col(to, a, at.channel, w, h, image, static_cast<unsigned short>(at.dw), static_cast<unsigned short>(at.dh),
                  barrier);
    else load_2d(to, a, at.channel, row, barrier);
  }
  __device__ __forceinline__ void next_stage() {
    if (++stage == p.stages) stage = 0, parity ^= 1;
  }
  __device__ __forceinline__ void bring(Place& at, int blocks) {
#pragma unroll 1
    for (int i = 0; i < blocks; ++i, step(at)) {
      wait(empty + 8 * stage, parity);
      arrive_expecting(full + 8 * stage, kStageBytes);
      bring_b(at, stage);
      bring_a(at, stage);
      next_stage();
    }
  }
  // Of the first tile, where all stages are empty: weights come before the kernel before this one is done.
  __device__ __forceinline__ void begin(int block, int end) {
    const int first = min(end - block, p.stages);
    if (!p.constant_b) wait_for_previous();
    Place at = place_of(block);
    Place behind = at;
#pragma unroll 1
    for (int i = 0; i < first; ++i, step(at)) {
      arrive_expecting(full + 8 * i, kStageBytes);
      bring_b(at, i);
    }
    if (p.constant_b) wait_for_previous();
#pragma unroll 1
    for (int i = 0; i < first; ++i, step(behind), next_stage()) bring_a(behind, i);
    bring(at, end - block - first);
  }
};

struct Sums {
  float at[8];
};
__device__ __forceinline__ void add(Sums& y, const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0], high = reinterpret_cast<const float4*>(from)[1];
  y.at[0] += low.x, y.at[1] += low.y, y.at[2] += low.z, y.at[3] += low.w;
  y.at[4] += high.x, y.at[5] += high.y, y.at[6] += high.z, y.at[7] += high.w;
}

// Eight results.
template <int kAct, class Out>
__device__ __forceinline__ Pack<Out, 8> finished(const ContractParams& p, const Sums& y, const Sums& shift,
                                        const Pack<Out, 8>& residual) {
  const Epilogue epilogue{static_cast<Act>(kAct), static_cast<Residual>(p.residual), p.alpha, p.beta};
  Pack<Out, 8> made;
#pragma unroll
  for (int j = 0; j < 8; ++j)
    made.at[j] = narrowed<Out>(trine::finished(epilogue, p.scale * y.at[j] + shift.at[j], widened(residual.at[j])));
  return made;
}

}  // namespace trine::sm90
