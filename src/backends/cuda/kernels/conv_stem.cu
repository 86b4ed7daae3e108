// Convolutions of few channels, as networks of images begin with: blocks go over tiles of outputs, for each of which
// they stage the input's rows in shared memory, the next tile's while one is multiplied. Products are mma.sync's; a
// line of the window is kGroups groups of 8 halves, which are read as words from where the window stands, and zeros
// beside its ends. Weights stay in registers: a warp makes 32 columns.
#include "finish_eight.cuh"
#include "mma.cuh"
#include "stem_sizes.cuh"

using namespace trine;
using namespace trine::contraction;

namespace {

constexpr int kThreads = 256;

// One group alone, of 8 halves.
template <class T>
__device__ __forceinline__ void multiply_group(float (&c)[4], unsigned a0, unsigned a1, unsigned b);
#define TRINE_GROUP(T, type)                                                                                      \
  template <>                                                                                                     \
  __device__ __forceinline__ void multiply_group<T>(float(&c)[4], unsigned a0, unsigned a1, unsigned b) {         \
    asm("mma.sync.aligned.m16n8k8.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                          \
        : "r"(a0), "r"(a1), "r"(b));                                                                              \
  }
TRINE_GROUP(F16, "f16")
TRINE_GROUP(Bf16, "bf16")
#undef TRINE_GROUP

// A tile: of which image, its first output, and of the halves of a row of the image the first that is staged.
struct Tile {
  unsigned image;
  int x, y, first;

  __device__ __forceinline__ Tile(const StemSizes& p, unsigned index) {
    const auto taken = [&](Divider d) {
      const unsigned q = divided(index, d), r = index - q * d.divisor;
      index = q;
      return int(r);
    };
    x = taken(p.tiles_x) * p.tile_w, y = taken(p.tiles_y) * p.tile_h;
    image = index;
    first = (x * p.step_x + p.start_x) & ~7;
  }
};

// Rows of the input, by warps; zeros outside the image.
__device__ __forceinline__ void stage(const StemSizes& p, const unsigned short* x, bool whole, const Tile& tile,
                                      char* to) {
  const unsigned short* image = x + (long long)tile.image * p.in_h * p.in_row;
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int row = threadIdx.x / 32; row < p.staged_rows; row += blockDim.x / 32) {
    const int y = tile.y * p.step_y + p.start_y + row;
    const bool inside = unsigned(y) < unsigned(p.in_h);
    const unsigned short* line = image + (inside ? y : 0) * p.in_row;
    char* at = to + row * p.chunks * 16;
    if (whole) {
#pragma unroll 1
      for (int i = lane; i < p.chunks; i += 32) {
        const int half = tile.first + i * 8;
        const bool there = inside && unsigned(half) < unsigned(p.in_row);
        copy_async(shared_address(at + i * 16), there ? line + half : x, there ? 16 : 0);
      }
    } else {
#pragma unroll 4
      for (int i = lane; i < p.chunks * 8; i += 32) {
        const int half = tile.first + i;
        const bool there = inside && unsigned(half) < unsigned(p.in_row);
        reinterpret_cast<unsigned short*>(at)[i] = there ? line[half] : 0;
      }
    }
  }
  commit_copies();
}

}  // namespace

template <class T, int kLines, int kGroups, bool kOverlap>
__global__ void __launch_bounds__(kThreads, kLines* kGroups <= 22 ? 2 : 1)
    conv_stem(const __grid_constant__ StemSizes p, const __grid_constant__ Finish f, const unsigned short* x,
              const uint4* weights, const void* bias, const void* residual, const float* scale, void* y) {
  constexpr int kAll = kLines * kGroups;
  extern __shared__ __align__(128) char shared[];
  __shared__ float biases[256];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int column_warp = threadIdx.x / 32 % p.column_warps, row_warp = threadIdx.x / 32 / p.column_warps;
  const int row_warps = blockDim.x / 32 / p.column_warps;
  unsigned b[kAll][4];
#pragma unroll
  for (int i = 0; i < kAll; ++i) {
    const uint4 w = weights[(column_warp * kAll + i) * 32 + lane];
    b[i][0] = w.x, b[i][1] = w.y, b[i][2] = w.z, b[i][3] = w.w;
  }
  // Halves of a pair before and behind the window are not multiplied: they may be infinite.
  unsigned first_mask = t == 0 && p.lead ? 0xffff0000u : ~0u, last_mask = ~0u;
  const int left = p.lead + p.line - (kGroups - 1) * 8 - 2 * t;  // halves of the last group from this lane's pair on
  if (left < 2) last_mask = left == 1 ? 0xffffu : 0u;

  wait_for_results<kOverlap>();
  for (int i = threadIdx.x; i < p.column_warps * 32; i += blockDim.x)
    biases[i] = bias && i < p.columns ? float_at(f.bias, bias, i) : 0.f;
  const FinishOperands operands{nullptr, residual, scale, y};
  const auto misaligned = [](const void* at) { return (reinterpret_cast<unsigned long long>(at) & 15) != 0; };
  const bool whole = p.whole && !misaligned(x), aligned = p.y_aligned && !misaligned(y) && !misaligned(residual);
  const int stage_bytes = p.staged_rows * p.chunks * 16 + 128;
  const int pitch = p.chunks * 4, line_pitch = pitch * p.dilation_y;  // words
  const int moved =
      2 * stage_bytes / 4 + (16 - 2 * stage_bytes / 4 % 32 + 32) % 32;  // words to the moved copy, 16 banks on
  const int column = column_warp * 32 + t * 8, pixels = p.tile_h * p.tile_w;

  int turn = 1;
#pragma unroll 1
  for (int index = int(blockIdx.x) - int(gridDim.x); index < p.tiles; index += gridDim.x, turn ^= 1) {
    wait_copies<0>();
    __syncthreads();
    const int next = index + int(gridDim.x);
    if (next < p.tiles) stage(p, x, whole, Tile(p, next), shared + (turn ^ 1) * stage_bytes);
    if (index < 0) continue;
    const Tile tile(p, index);
    unsigned* words = reinterpret_cast<unsigned*>(shared) + turn * (stage_bytes / 4);
    const int to_moved = moved - turn * (stage_bytes / 4);
    if (p.odd) {
#pragma unroll 2
      for (int i = threadIdx.x; i < p.staged_rows * pitch; i += blockDim.x)
        words[to_moved + i] = __funnelshift_r(words[i], words[i + 1], 16);
      __syncthreads();
    }
    const int phase = (tile.x * p.step_x + p.start_x) & 7;
#pragma unroll 1
    for (int m = row_warp * 16; m < pixels; m += row_warps * 16) {
      const unsigned* from[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int pixel = m + g + i * 8 < pixels ? m + g + i * 8 : 0;
        const int row = int(divided(pixel, p.tile_columns)), at = phase + (pixel - row * p.tile_w) * p.step_x;
        from[i] = words + row * p.step_y * pitch + (at & 1) * to_moved + at / 2 + t;
      }
      float sums[4][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 start = *reinterpret_cast<const float2*>(biases + column + j * 2);
        sums[j][0] = sums[j][2] = start.x, sums[j][1] = sums[j][3] = start.y;
      }
      const auto group = [&](int i, int row) __attribute__((always_inline)) {
        unsigned w = from[row][i / kGroups * line_pitch + i % kGroups * 4];
        if (i % kGroups == 0) w &= first_mask;
        if (i % kGroups == kGroups - 1) w &= last_mask;
        return w;
      };
#pragma unroll
      for (int i = 0; i + 1 < kAll; i += 2) {
        const unsigned a[4] = {group(i, 0), group(i, 1), group(i + 1, 0), group(i + 1, 1)};
#pragma unroll
        for (int j = 0; j < 4; ++j) T::multiply(sums[j], a, b[i][j], b[i + 1][j]);
      }
      if constexpr (kAll % 2) {
        const unsigned a0 = group(kAll - 1, 0), a1 = group(kAll - 1, 1);
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply_group<T>(sums[j], a0, a1, b[kAll - 1][j]);
      }
      // Columns are packed so that a lane's are neighbours.
#pragma unroll 1
      for (int i = 0; i < 2; ++i) {
        const int pixel = m + g + i * 8, row = int(divided(pixel, p.tile_columns));
        const int out_y = tile.y + row, out_x = tile.x + pixel - row * p.tile_w;
        if (pixel >= pixels || out_y >= p.out_h || out_x >= p.out_w || column >= p.columns) continue;
        float row_sums[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) row_sums[j] = i ? sums[j / 2][2 + j % 2] : sums[j / 2][j % 2];
        const long long at = ((long long)(tile.image * p.out_h + out_y) * p.out_w + out_x) * p.y_row + column;
        finish_eight(f, operands, row_sums, min(8, p.columns - column), at, column, aligned);
      }
    }
  }
}
