// Products and convolutions on tensor cores (sm_80): tiles of kRows x kColumns, kStages of 128 bytes of depth on their
// way to shared memory while one is multiplied. Depth may be split among blocks: then sums go to `partial`, and
// contract_sum adds them in order. Convolutions read pixels where their window stands: no matrix of patches is made.
#include "contraction.cuh"
#include "mma.cuh"

using namespace trine::contraction;

// What one thread copies of A: piece `piece` of kEach rows, kStep apart.
template <class T, int kEach, int kStep>
struct Pixels {
  static constexpr int kVector = 16 / T::kBytes;
  const Mma& p;
  const char* a;
  int zero, piece;
  bool fast;
  int channel, kx, ky, kz;
  int offset[kEach];      // of the window's first pixel, in elements
  unsigned valid[kEach];  // bit k of 12 of x, 12 of y, 8 of z: that kernel position is inside the image

  __device__ __forceinline__ Pixels(const Mma& p_, const void* a_, int zero_, int row, int piece_, int step)
      : p(p_), a(static_cast<const char*>(a_)), zero(zero_ & 255), piece(piece_) {
    fast = p.aligned && (reinterpret_cast<unsigned long long>(a) & 15) == 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) place(i, row + i * kStep);
    const int k = step * 8 * kVector + piece * kVector, position = k / p.padded_channels;
    channel = k - position * p.padded_channels;
    kx = position % p.kernel[2];
    ky = position / p.kernel[2] % p.kernel[1];
    kz = position / p.kernel[2] / p.kernel[1];
  }

  __device__ __forceinline__ unsigned inside(int axis, int origin) const {
    unsigned bits = 0;
    const int count = axis == 2 && p.patch ? p.line : p.kernel[axis];
    for (int k = 0; k < count; ++k)
      if (unsigned(origin + k * p.dilation[axis]) < unsigned(p.in[axis])) bits |= 1u << k;
    return bits;
  }

  __device__ __forceinline__ void place(int i, int row) {
    valid[i] = 0, offset[i] = 0;
    if (row >= p.rows) return;
    if (p.plain) {
      offset[i] = row * p.a_row;
      valid[i] = 1u | 1u << 12 | 1u << 24;
      return;
    }
    const int x = row % p.out[2] * p.stride[2] - p.pad[2];
    row /= p.out[2];
    const int y = row % p.out[1] * p.stride[1] - p.pad[1];
    row /= p.out[1];
    const int z = row % p.out[0] * p.stride[0] - p.pad[0];
    offset[i] = row / p.out[0] * p.image + ((z * p.in[1] + y) * p.in[2] + x) * p.pixel;
    valid[i] = inside(2, x) | inside(1, y) << 12 | inside(0, z) << 24;
  }

  __device__ __forceinline__ void next() {
    channel += 8 * kVector;
    while (channel >= p.padded_channels && kz < p.kernel[0]) {
      channel -= p.padded_channels;
      if (++kx < p.kernel[2]) continue;
      kx = 0;
      if (++ky < p.kernel[1]) continue;
      ky = 0, ++kz;
    }
  }

  __device__ __forceinline__ void copy(unsigned to, int row) const {
    const unsigned column = p.patch ? 0u : 1u << kx;  // of a line each pixel is looked at
    const unsigned bits = kz < p.kernel[0] ? column | 1u << (12 + ky) | 1u << (24 + kz) : 0u;
    const int tap = ((kz * p.dilation[0] * p.in[1] + ky * p.dilation[1]) * p.in[2] + kx * p.dilation[2]) * p.pixel;
    const int count = min(kVector, max(p.channels - channel, 0));
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool is_inside = bits && (valid[i] & bits) == bits && count > 0;
      const unsigned at = to + piece_offset(row + i * kStep, piece);
      const char* from = a + (long long)(offset[i] + tap + channel) * T::kBytes;
      if (T::kBytes == 1 && !is_inside) fill(at);
      else if (p.patch) copy_line(at, from, is_inside ? count : 0, valid[i], channel, p.patch, zero);
      else if (fast) copy_async(at, is_inside ? from : a, is_inside ? count * T::kBytes : 0);
      else copy_slowly(at, from, is_inside ? count : 0);
    }
  }

  // Padding of 8-bit integers is what stands for 0.
  __device__ void fill(unsigned at) const {
    const unsigned word = unsigned(zero) * 0x01010101u;
    asm volatile("st.shared.v4.b32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(word) : "memory");
  }

  // A piece of a line of the window, parts of which may be beyond the image.
  __device__ __noinline__ static void copy_line(unsigned at, const char* from, int count, unsigned inside_bits,
                                                int channel, int patch, int zero) {
    unsigned words[4] = {};
    int pixel = channel / patch, left = (pixel + 1) * patch - channel;  // elements of this pixel
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (left == 0) left = patch, ++pixel;
      --left;
      unsigned x = unsigned(zero);
      if (i < count && (inside_bits >> pixel & 1)) x = element_at(from, i);
      words[i * T::kBytes / 4] |= x << (i * T::kBytes % 4 * 8);
    }
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
  }

  __device__ static unsigned element_at(const char* from, int i) {
    if constexpr (T::kBytes == 1) return reinterpret_cast<const unsigned char*>(from)[i];
    else if constexpr (T::kBytes == 2) return reinterpret_cast<const unsigned short*>(from)[i];
    else return reinterpret_cast<const unsigned*>(from)[i];
  }

  // Elements that begin anywhere.
  __device__ __noinline__ static void copy_slowly(unsigned at, const char* from, int count) {
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (i >= count) continue;
      words[i * T::kBytes / 4] |= element_at(from, i) << (i * T::kBytes % 4 * 8);
    }
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
  }
};

template <class T, int kRows, int kColumns, int kWarpRows, int kWarpColumns, int kStages, bool kOverlap>
__global__ void __launch_bounds__(kWarpRows * kWarpColumns * 32)
    contract_mma(const __grid_constant__ Mma p, const __grid_constant__ Finish f, const void* a, const void* b,
                 const int* column_sums, typename T::Sum* partial, const void* bias, const void* residual,
                 const float* scale, void* y) {
  using Sum = typename T::Sum;
  constexpr int kThreads = kWarpRows * kWarpColumns * 32, kStep = kThreads / 8;
  constexpr int kTall = kRows / kWarpRows / 16, kWide = kColumns / kWarpColumns / 16;  // of a warp, 16 x 16 each
  constexpr int kVector = 16 / T::kBytes, kStageBytes = (kRows + kColumns) * 128;
  static_assert(kTall > 0 && kWide > 0 && kRows % kStep == 0 && kColumns % kStep == 0);
  extern __shared__ __align__(128) char shared[];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int block = blockIdx.x;
  const int column0 = block % p.column_tiles * kColumns;
  block /= p.column_tiles;
  const int row0 = block % p.row_tiles * kRows;
  block /= p.row_tiles;
  const int split = block % p.splits, member = block / p.splits;
  long long a_start, b_start;
  batch_offsets(p.batches, member, a_start, b_start);
  const int first = split * p.split_steps, steps = max(min(p.steps - first, p.split_steps), 0);

  const int copy_row = thread / 8, piece = thread % 8;
  Pixels<T, kRows / kStep, kStep> pixels(p, static_cast<const char*>(a) + a_start * T::kBytes, f.in_zero,
                                         row0 + copy_row, piece, first);
  const char* weights = static_cast<const char*>(b) + b_start * T::kBytes;
  const unsigned memory = shared_address(shared);
  wait_for_results<kOverlap>();
  int copied = 0;
  const bool fast_b = (reinterpret_cast<unsigned long long>(weights) & 15) == 0 && p.b_row % kVector == 0;
  const auto copy_step = [&]() __attribute__((always_inline)) {
    if (copied < steps) {
      const unsigned to = memory + copied % kStages * kStageBytes;
      pixels.copy(to, copy_row);
      const int k = ((first + copied) * 8 + piece) * kVector;
#pragma unroll
      for (int i = 0; i < kColumns / kStep; ++i) {
        const int row = copy_row + i * kStep, column = column0 + row;
        const int count = column < p.columns ? min(kVector, max(p.b_depth - k, 0)) : 0;
        const char* from = weights + ((long long)column * p.b_row + k) * T::kBytes;
        const unsigned at = to + kRows * 128 + piece_offset(row, piece);
        if (fast_b) copy_async(at, count ? from : weights, count * T::kBytes);
        else Pixels<T, kRows / kStep, kStep>::copy_slowly(at, from, count);
      }
      pixels.next();
    }
    commit_copies();
    ++copied;
  };

  const int warp_row = warp / kWarpColumns * kTall * 16, warp_column = warp % kWarpColumns * kWide * 16;
  const int a_row = warp_row + lane % 16, a_piece = lane / 16;
  const int b_row = warp_column + lane % 8 + lane / 16 * 8, b_piece = lane / 8 % 2;
  Sum sums[kTall][kWide * 2][4] = {};
#pragma unroll 1
  for (int step = 1 - kStages; step < steps; ++step) {  // those before 0 only copy
    if (step >= 0) {
      wait_copies<kStages - 2>();
      __syncthreads();
    }
    copy_step();
    if (step < 0) continue;
    const unsigned as = memory + step % kStages * kStageBytes, bs = as + kRows * 128;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned left[kTall][4], right[kWide][4];
#pragma unroll
      for (int i = 0; i < kTall; ++i) {
        load_matrices(left[i], as + piece_offset(a_row + i * 16, 2 * k + a_piece));
        T::prepare(left[i]);
      }
#pragma unroll
      for (int j = 0; j < kWide; ++j) {
        load_matrices(right[j], bs + piece_offset(b_row + j * 16, 2 * k + b_piece));
        T::prepare(right[j]);
      }
#pragma unroll
      for (int i = 0; i < kTall; ++i)
#pragma unroll
        for (int j = 0; j < kWide; ++j) {
          T::multiply(sums[i][2 * j], left[i], right[j][0], right[j][1]);
          T::multiply(sums[i][2 * j + 1], left[i], right[j][2], right[j][3]);
        }
    }
  }
  wait_copies<0>();
  __syncthreads();

  // Sums to shared memory; from there rows of eight, by neighbouring threads.
  constexpr int kPitch = kColumns + 4;
  Sum* tile = reinterpret_cast<Sum*>(shared);
#pragma unroll
  for (int i = 0; i < kTall; ++i)
#pragma unroll
    for (int j = 0; j < kWide * 2; ++j) {
      Sum* at = tile + (warp_row + i * 16 + lane / 4) * kPitch + warp_column + j * 8 + lane % 4 * 2;
      at[0] = sums[i][j][0], at[1] = sums[i][j][1];
      at[8 * kPitch] = sums[i][j][2], at[8 * kPitch + 1] = sums[i][j][3];
    }
  __syncthreads();
  const FinishOperands operands{bias, residual, scale, y};
  constexpr int kEights = kColumns / 8;
#pragma unroll 1
  for (int i = thread; i < kRows * kEights; i += kThreads) {
    const int row = row0 + i / kEights, column = column0 + i % kEights * 8;
    if (row >= p.rows || column >= p.columns) continue;
    Sum* from = tile + i / kEights * kPitch + i % kEights * 8;
    const int count = min(8, p.columns - column);
    const int own_column = member * p.column_batch + column;
    const long long at = member * p.y_batch + row * p.y_row + column;
    if (partial) {
      Sum* to = partial +
                (((long long)split * (gridDim.x / (p.splits * p.row_tiles * p.column_tiles)) + member) * p.rows + row) *
                    p.columns +
                column;
      for (int j = 0; j < count; ++j) to[j] = from[j];
    } else {
      finish_row(f, operands, from, count, at, own_column, p.y_aligned, column_sums);
    }
  }
}

// What blocks that share a sum have left in [splits][members][rows][columns].
template <class Sum, bool kOverlap>
__global__ void __launch_bounds__(256)
    contract_sum(const __grid_constant__ Mma p, const __grid_constant__ Finish f, int members, const int* column_sums,
                 const Sum* partial, const void* bias, const void* residual, const float* scale, void* y) {
  wait_for_results<kOverlap>();
  const long long matrix = (long long)p.rows * p.columns, index = (long long)blockIdx.x * 256 + threadIdx.x;
  if (index >= matrix * members) return;
  const int member = int(index / matrix), row = int(index % matrix / p.columns), column = int(index % p.columns);
  Sum sum = 0;
  for (int i = 0; i < p.splits; ++i) sum += partial[i * matrix * members + index];
  const int own_column = member * p.column_batch + column;
  if (column_sums) sum -= Sum(f.in_zero * column_sums[own_column]);
  finish(f, FinishOperands{bias, residual, scale, y}, sum, member * p.y_batch + row * p.y_row + column, own_column);
}
