// Products and convolutions on tensor cores (sm_80): tiles of kRows x kColumns, kStages of 128 bytes of depth on their
// way to shared memory while one is multiplied. Depth may be split among blocks: then sums go to `partial`, and
// contract_sum adds them in order. Convolutions read pixels where their window stands: no matrix of patches is made.
#include "finish_columns.cuh"
#include "mma.cuh"

using namespace trine;
using namespace trine::contraction;

// n becomes the quotient; the remainder is returned.
__device__ inline int taken(int& n, Divider d) {
  const int q = int(divided(unsigned(n), d)), r = n - q * int(d.divisor);
  n = q;
  return r;
}

// Where a row's window stands: its first pixel, in elements from the first window's; bit k of 12 of x, 12 of y, 7 of z:
// that kernel position is inside the image.
struct Place {
  unsigned offset, valid;
};

__device__ inline unsigned inside(int origin, int in, int count, Divider dilation) {
  const int step = int(dilation.divisor) - 1;
  const int first = int(divided(unsigned(max(-origin, 0) + step), dilation));
  const int end = int(divided(unsigned(max(in - origin, 0) + step), dilation));
  return ((1u << min(end, count)) - 1) & ~((1u << min(first, count)) - 1);
}

__device__ inline Place place_of(const Mma& p, int row) {
  if (row >= p.rows) return {0, 0};
  if (p.plain) return {unsigned(row * p.a_row), 1u | 1u << 12 | 1u << 24};
  int at[3];
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) at[axis] = taken(row, p.out[axis]) * p.stride[axis];
  const auto bits = [&](int axis, int count) {
    return inside(at[axis] - p.pad[axis], p.in[axis], count, p.dilation[axis]);
  };
  return {unsigned(row * p.image + ((at[0] * p.in[1] + at[1]) * p.in[2] + at[2]) * p.pixel),
          bits(2, p.patch ? p.line : p.kernel[2]) | bits(1, p.kernel[1]) << 12 | bits(0, p.kernel[0]) << 24};
}

template <class T>
__device__ unsigned element_at(const char* from, int i) {
  if constexpr (T::kBytes == 1) return reinterpret_cast<const unsigned char*>(from)[i];
  else if constexpr (T::kBytes == 2) return reinterpret_cast<const unsigned short*>(from)[i];
  else return reinterpret_cast<const unsigned*>(from)[i];
}

__device__ inline void store_piece(unsigned at, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// A piece whose elements begin anywhere; `patch`: of a line of pixels of so many elements, those without a bit of
// `pixels` beyond the image. What is not there is `zero`.
template <class T>
__device__ __forceinline__ void copy_slowly(unsigned at, const char* from, int count, unsigned pixels, int channel,
                                            int patch, unsigned zero) {
  constexpr int kVector = 16 / T::kBytes;
  unsigned words[4] = {};
  int pixel = patch ? channel / patch : 0, left = patch ? (pixel + 1) * patch - channel : kVector + 1;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    if (left == 0) left = patch, ++pixel;
    --left;
    const unsigned x = i < count && (pixels >> pixel & 1) ? element_at<T>(from, i) : zero;
    words[i * T::kBytes / 4] |= x << (i * T::kBytes % 4 * 8);
  }
  store_piece(at, words[0], words[1], words[2], words[3]);
}

// What one thread copies of A: 16-byte piece `piece` of kEach rows, kStep apart.
template <class T, int kEach, int kStep>
struct Pixels {
  static constexpr int kVector = 16 / T::kBytes;
  static constexpr unsigned kNowhere = 1u << 31;  // a bit that no place has
  const Mma& p;
  const char* a;
  unsigned zero, start;  // start: of the first row's piece in a stage
  bool fast;
  int channel, kx, ky, kz;  // of the next step
  Place places[kEach];
  unsigned bits;     // what a place must have, of this step
  const char* from;  // its pixel, of the first window
  int at;            // its channel

  __device__ __forceinline__ Pixels(const Mma& p_, const void* a_, int zero_, int row, int piece, int step,
                                    const Place* shared)
      : p(p_), a(static_cast<const char*>(a_)), zero(zero_ & 255), start(piece_offset(row, piece)) {
    fast = p.whole && begins_at_16(a);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      places[i] = shared[row + i * kStep];
      places[i].offset *= T::kBytes;
    }
    channel = (step * 8 + piece) * kVector, kx = ky = kz = 0;
    settle();
  }

  // Channels beyond the last are those of the next positions.
  __device__ __forceinline__ void settle() {
    while (channel >= p.padded_channels && kz < p.kernel[0]) {
      channel -= p.padded_channels;
      if (++kx < p.kernel[2]) continue;
      kx = 0;
      if (++ky < p.kernel[1]) continue;
      ky = 0, ++kz;
    }
  }

  __device__ __forceinline__ void aim() {
    const auto step = [&](int axis, int k) { return k * int(p.dilation[axis].divisor) - p.pad[axis]; };
    const int tap = ((step(0, kz) * p.in[1] + step(1, ky)) * p.in[2] + step(2, kx)) * p.pixel;
    const bool there = kz < p.kernel[0] && channel < p.channels;
    bits = there ? (p.patch ? 0u : 1u << kx) | 1u << (12 + ky) | 1u << (24 + kz) : kNowhere;
    from = a + (long long)(tap + channel) * T::kBytes;
    at = channel;
    channel += 8 * kVector;
    settle();
  }

  // The pieces [first, end), fast.
  __device__ __forceinline__ void copy(unsigned stage, int first, int end) const {
    const unsigned to = stage + start;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (i < first || i >= end) continue;
      const bool is_inside = (places[i].valid & bits) == bits;
      if (T::kBytes == 1 && zero && !is_inside) {  // padding of 8-bit integers is what stands for 0
        const unsigned word = zero * 0x01010101u;
        store_piece(to + i * kStep * 128, word, word, word, word);
      } else {
        copy_async(to + i * kStep * 128, from + places[i].offset, is_inside ? 16 : 0);
      }
    }
  }

  // All pieces, one at a time: small code.
  __device__ __forceinline__ void copy_all_slowly(unsigned stage) const {
    const int count = min(kVector, p.channels - at);
#pragma unroll 1
    for (int i = 0; i < kEach; ++i) {
      Place place = places[0];
#pragma unroll
      for (int j = 1; j < kEach; ++j)
        if (i == j) place = places[j];
      const bool is_inside = (place.valid & bits) == bits;
      copy_slowly<T>(stage + start + i * kStep * 128, from + place.offset, is_inside ? count : 0,
                     p.patch ? place.valid : 1u, at, p.patch, T::kBytes == 1 ? zero : 0u);
    }
  }
};

// What one thread copies of B: likewise of kEach columns.
template <class T, int kEach, int kStep>
struct Weights {
  static constexpr int kVector = 16 / T::kBytes;
  const char* from;  // of the first column, of the next step
  long long next_column;
  unsigned start, columns;  // bit i: that column is there
  int left;                 // elements of depth from this piece on
  bool fast;

  __device__ __forceinline__ Weights(const Mma& p, const char* b, int column, int row, int piece, int step, int offset)
      : start(offset + piece_offset(row, piece)), columns(0) {
    fast = begins_at_16(b) && p.b_row % kVector == 0;
    const int k = (step * 8 + piece) * kVector;
    left = p.b_depth - k;
    from = b + ((long long)(column + row) * p.b_row + k) * T::kBytes;
    next_column = (long long)kStep * p.b_row * T::kBytes;
#pragma unroll
    for (int i = 0; i < kEach; ++i) columns |= unsigned(column + row + i * kStep < p.columns) << i;
  }

  __device__ __forceinline__ void next() { from += 128, left -= 8 * kVector; }

  __device__ __forceinline__ void copy(unsigned stage, int first, int end) const {
    const unsigned there = left > 0 ? columns : 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (i >= first && i < end)
        copy_async(stage + start + i * kStep * 128, from + i * next_column, there >> i & 1 ? 16 : 0);
  }

  __device__ __forceinline__ void copy_all_slowly(unsigned stage) const {
    const int count = min(kVector, max(left, 0));
#pragma unroll 1
    for (int i = 0; i < kEach; ++i)
      copy_slowly<T>(stage + start + i * kStep * 128, from + i * next_column, columns >> i & 1 ? count : 0, 1, 0, 0, 0);
  }
};

// Sums in shared memory: rows of kColumns, whose quads are exchanged so that neither the pairs of eight rows nor the
// eights of neighbours meet in one bank.
template <int kColumns>
__device__ inline int quad_offset(int row, int column) {
  return row * (kColumns + 8) + (((column / 4) ^ ((column / 32 ^ row) & 1)) << 2);
}

template <class Sum>
struct alignas(8) Pair {
  Sum low, high;
};
template <class Sum>
struct alignas(16) Quad {
  Sum at[4];
};

// Blocks of so many sums that share a multiprocessor, by their registers.
constexpr int blocks_of(int sums) { return sums >= 128 * 128 ? 2 : sums >= 128 * 64 ? 3 : 4; }

template <class T, int kRows, int kColumns, int kWarpRows, int kWarpColumns, int kStages, bool kOverlap>
__global__ void __launch_bounds__(kWarpRows* kWarpColumns * 32, blocks_of(kRows* kColumns))
    contract_mma(const __grid_constant__ Mma p, const __grid_constant__ Finish f, const void* a, const void* b,
                 const int* column_sums, typename T::Sum* partial, const void* bias, const void* residual,
                 const float* scale, void* y) {
  using Sum = typename T::Sum;
  constexpr int kThreads = kWarpRows * kWarpColumns * 32, kStep = kThreads / 8;
  constexpr int kTall = kRows / kWarpRows / 16, kWide = kColumns / kWarpColumns / 16;  // of a warp, 16 x 16 each
  constexpr int kEachA = kRows / kStep, kEachB = kColumns / kStep;
  constexpr unsigned kStageBytes = (kRows + kColumns) * 128;
  static_assert(kTall > 0 && kWide > 0 && kRows % kStep == 0 && kColumns % kStep == 0 && kRows <= kThreads);
  extern __shared__ __align__(128) char shared[];
  if constexpr (kOverlap) let_next_begin();
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int member = blockIdx.x;
  const int column0 = taken(member, p.column_tiles) * kColumns, row0 = taken(member, p.row_tiles) * kRows;
  const int split = taken(member, p.splits);
  long long a_start = 0, b_start = 0;
  if (p.members > 1) batch_offsets(p.batches, member, a_start, b_start);
  const int first = split * p.split_steps, steps = max(min(p.steps - first, p.split_steps), 0);

  Place* places = reinterpret_cast<Place*>(shared + (kStages - 1) * kStageBytes);  // the stage that is filled last
  if (thread < kRows) places[thread] = place_of(p, row0 + thread);
  __syncthreads();
  const int copy_row = thread / 8, piece = thread % 8;
  Pixels<T, kEachA, kStep> pixels(p, static_cast<const char*>(a) + a_start * T::kBytes, f.in_zero, copy_row, piece,
                                  first, places);
  Weights<T, kEachB, kStep> weights(p, static_cast<const char*>(b) + b_start * T::kBytes, column0, copy_row, piece,
                                    first, kRows * 128);
  const unsigned memory = shared_address(shared);
  if (kOverlap && !p.constant_b) wait_for_previous();
#pragma unroll 1
  for (int step = 0; step < kStages - 1 && step < steps; ++step) {
    if (weights.fast) weights.copy(memory + step * kStageBytes, 0, kEachB);
    else weights.copy_all_slowly(memory + step * kStageBytes);
    weights.next();
  }
  if (kOverlap && p.constant_b) wait_for_previous();
#pragma unroll 1
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) {
      pixels.aim();
      if (pixels.fast) pixels.copy(memory + step * kStageBytes, 0, kEachA);
      else pixels.copy_all_slowly(memory + step * kStageBytes);
    }
    commit_copies();
  }

  const int warp_row = warp / kWarpColumns * kTall * 16, warp_column = warp % kWarpColumns * kWide * 16;
  const int a_row = warp_row + lane % 16, b_row = warp_column + lane % 8 + lane / 16 * 8;
  const unsigned a_line = a_row * 128, b_line = (kRows + b_row) * 128;
  // Of A the next 32 bytes of depth are on their way while these are multiplied; B's follow when their last use is
  // over.
  unsigned left[2][kTall][4], right[kWide][4];
  const auto load_left = [&](int to, unsigned stage, int k) __attribute__((always_inline)) {
    const unsigned from = stage + a_line + (((2 * k + lane / 16) ^ (a_row & 7)) << 4);
#pragma unroll
    for (int i = 0; i < kTall; ++i) {
      load_matrices(left[to][i], from + i * 16 * 128);
      T::prepare(left[to][i]);
    }
  };
  const auto load_right = [&](int j, unsigned stage, int k) __attribute__((always_inline)) {
    load_matrices(right[j], stage + b_line + (((2 * k + lane / 8 % 2) ^ (b_row & 7)) << 4) + j * 16 * 128);
    T::prepare(right[j]);
  };
  Sum sums[kTall][kWide * 2][4] = {};
  wait_copies<kStages - 2>();
  __syncthreads();
  unsigned stage = memory, spare = memory + (kStages - 1) * kStageBytes;
  if (steps > 0) {
    load_left(0, stage, 0);
#pragma unroll
    for (int j = 0; j < kWide; ++j) load_right(j, stage, 0);
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const bool copies = step + kStages - 1 < steps;
    const unsigned next = stage + kStageBytes < memory + kStages * kStageBytes ? stage + kStageBytes : memory;
    // What a step copies is spread over three quarters of it; in the last the next step begins.
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (k == 3) {
        commit_copies();
        wait_copies<kStages - 2>();
        __syncthreads();
      }
      if (k == 0 && copies) {
        pixels.aim();
        if (!pixels.fast) pixels.copy_all_slowly(spare);
        if (!weights.fast) weights.copy_all_slowly(spare);
      }
      load_left((k + 1) % 2, k == 3 ? next : stage, (k + 1) % 4);
      if (k < 3 && copies) {
        if (pixels.fast) pixels.copy(spare, kEachA * k / 3, kEachA * (k + 1) / 3);
        if (weights.fast) weights.copy(spare, kEachB * k / 3, kEachB * (k + 1) / 3);
        if (k == 2) weights.next();
      }
#pragma unroll
      for (int j = 0; j < kWide; ++j) {
#pragma unroll
        for (int i = 0; i < kTall; ++i) {
          T::multiply(sums[i][2 * j], left[k % 2][i], right[j][0], right[j][1]);
          T::multiply(sums[i][2 * j + 1], left[k % 2][i], right[j][2], right[j][3]);
        }
        load_right(j, k == 3 ? next : stage, (k + 1) % 4);
      }
    }
    spare = stage, stage = next;
  }

  // Each thread finishes eights of the same columns.
  constexpr int kEights = kColumns / 8, kRowStep = kThreads / kEights;
  static_assert(kThreads % kEights == 0);
  const int row = thread / kEights, eight = thread % kEights * 8, column = column0 + eight;
  const int count = min(8, p.columns - column), end = min(kRows, p.rows - row0);
  const FinishOperands operands{bias, residual, scale, y};
  const Columns<Sum> columns(f, operands, member * p.column_batch + column, partial ? 0 : count, p.y_aligned,
                             column_sums);
  const auto old_at = [&](int r) __attribute__((always_inline)) {
    return r < end && count > 0 ? columns.old(member * p.y_batch + (row0 + r) * p.y_row + column) : OldEight{};
  };
  OldEight old = old_at(row), soon = old_at(row + kRowStep);
  wait_copies<0>();
  __syncthreads();
  Sum* tile = reinterpret_cast<Sum*>(shared);
#pragma unroll
  for (int i = 0; i < kTall; ++i)
#pragma unroll
    for (int j = 0; j < kWide * 2; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = warp_row + i * 16 + lane / 4 + half * 8, c = warp_column + j * 8 + lane % 4 * 2;
        *reinterpret_cast<Pair<Sum>*>(tile + quad_offset<kColumns>(r, c) + c % 4) =
            Pair<Sum>{sums[i][j][2 * half], sums[i][j][2 * half + 1]};
      }
  __syncthreads();
  if (count <= 0) return;
#pragma unroll 1
  for (int r = row; r < end; r += kRowStep) {
    const OldEight far = old_at(r + 2 * kRowStep);
    const Quad<Sum> low = *reinterpret_cast<const Quad<Sum>*>(tile + quad_offset<kColumns>(r, eight));
    const Quad<Sum> high = *reinterpret_cast<const Quad<Sum>*>(tile + quad_offset<kColumns>(r, eight + 4));
    if (partial) {
      const long long part = (long long)split * p.members + member;
      auto* to = reinterpret_cast<Quad<Sum>*>(partial + (part * p.rows + row0 + r) * p.partial_row + column);
      to[0] = low, to[1] = high;
    } else {
      Sum x[8] = {low.at[0], low.at[1], low.at[2], low.at[3], high.at[0], high.at[1], high.at[2], high.at[3]};
      columns.finish_row(x, old, member * p.y_batch + (row0 + r) * p.y_row + column);
    }
    old = soon, soon = far;
  }
}

// Eight columns of what blocks that share a sum have left.
template <class Sum, bool kOverlap>
__global__ void __launch_bounds__(64)
    contract_sum(const __grid_constant__ Mma p, const __grid_constant__ Finish f, const int* column_sums,
                 const Sum* partial, const void* bias, const void* residual, const float* scale, void* y) {
  wait_for_results<kOverlap>();
  int member = blockIdx.x * 64 + threadIdx.x;
  const int column = taken(member, p.row_eights) * 8, row = taken(member, p.member_rows);
  if (member >= p.members) return;
  const Columns<Sum> columns(f, FinishOperands{bias, residual, scale, y}, member * p.column_batch + column,
                             min(8, p.columns - column), p.y_aligned, column_sums);
  const long long at = member * p.y_batch + row * p.y_row + column,
                  part = (long long)p.members * p.rows * p.partial_row;
  const OldEight old = columns.old(at);
  const Sum* from = partial + ((long long)member * p.rows + row) * p.partial_row + column;
  Sum x[8] = {};
#pragma unroll 4
  for (int i = 0; i < int(p.splits.divisor); ++i, from += part) {
    const Quad<Sum>* quads = reinterpret_cast<const Quad<Sum>*>(from);
    const Quad<Sum> low = quads[0], high = quads[1];
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] += low.at[j], x[j + 4] += high.at[j];
  }
  columns.finish_row(x, old, at);
}
