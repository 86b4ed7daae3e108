// Convolutions of NHWC images and products of matrices on compute capability 9.0: y[m, n] = sum over k of a[m, k] b[n, k].
// Rows of `a` are rows of a matrix, or windows of an image (im2col by the copy engine); k counts taps, then channels.
// One warp brings blocks of 128 bytes of k into a ring of stages; warp groups of 64 rows each multiply them. The blocks
// of a cluster divide k among themselves; each then pushes its sums of some rows into the memory of the block that
// finishes these rows.
#include "contract_params.cuh"
#include "element.cuh"
#include "epilogue.cuh"
#include "overlap.cuh"
#include "sm90.cuh"

namespace trine {

namespace sm90 {

constexpr int kBlockBytes = 128;  // of k
constexpr int kPad = 4;           // floats that keep rows of sums apart in the banks

// The thread that brings the data.
template <class T, int kRows, int kColumns, bool kImage>
struct Loader {
  static constexpr unsigned kRowsBytes = kRows * kBlockBytes, kStageBytes = kRowsBytes + kColumns * kBlockBytes;
  static constexpr int kBlock = kBlockBytes / sizeof(T);
  const TensorMap &a, &b;
  const ContractParams& p;
  Shared ring, full, empty;
  int row, column;  // of the tile
  int image, w, h;  // where its first window begins

  // A block of k: its tap, as a number and as pixels, and its channels.
  struct Place {
    int tap, tap_w, dw, dh, channel;
  };

  __device__ Place place_of(int block) const {
    const int tap = block / p.chunks, tap_h = tap / p.taps_w, tap_w = tap - tap_h * p.taps_w;
    return {tap, tap_w, tap_w * p.step_w, tap_h * p.step_h, (block - tap * p.chunks) * kBlock};
  }
  __device__ void step(Place& at) const {
    at.channel += kBlock;
    if (at.channel < p.chunks * kBlock) return;
    at.channel = 0, ++at.tap, ++at.tap_w, at.dw += p.step_w;
    if (at.tap_w == p.taps_w) at.tap_w = 0, at.dw = 0, at.dh += p.step_h;
  }
  __device__ void bring_b(const Place& at, int stage) const {
    load_3d(ring + stage * kStageBytes + kRowsBytes, b, at.channel, at.tap, column, full + 8 * stage);
  }
  __device__ void bring_a(const Place& at, int stage) const {
    const Shared to = ring + stage * kStageBytes, barrier = full + 8 * stage;
    if constexpr (kImage)
      load_im2col(to, a, at.channel, w, h, image, static_cast<unsigned short>(at.dw), static_cast<unsigned short>(at.dh),
                  barrier);
    else load_2d(to, a, at.channel, row, barrier);
  }
  __device__ void run(int begin, int end) {
    if constexpr (kImage) {
      const int line = divided(row, p.out_w);
      image = divided(line, p.out_h);
      w = (row - line * p.out_w.divisor) * p.stride_w - p.pad_w;
      h = (line - image * p.out_h.divisor) * p.stride_h - p.pad_h;
    }
    const int first = min(end - begin, p.stages);
    const Place start = place_of(begin);
    if (!p.constant_b) wait_for_previous();
    Place at = start;
#pragma unroll 1
    for (int i = 0; i < first; ++i, step(at)) {
      arrive_expecting(full + 8 * i, kStageBytes);
      bring_b(at, i);
    }
    if (p.constant_b) wait_for_previous();
    at = start;
#pragma unroll 1
    for (int i = 0; i < first; ++i, step(at)) bring_a(at, i);
    int stage = 0;
    unsigned parity = 0;
#pragma unroll 1
    for (int block = begin + first; block < end; ++block, step(at)) {
      wait(empty + 8 * stage, parity);
      arrive_expecting(full + 8 * stage, kStageBytes);
      bring_b(at, stage);
      bring_a(at, stage);
      if (++stage == p.stages) stage = 0, parity ^= 1;
    }
  }
};

// A warp group's sums of 64 rows.
template <class T, int kRows, int kColumns>
__device__ inline void multiply(float (&sums)[kColumns / 2], const ContractParams& p, Shared ring, Shared full,
                                Shared empty, int group, int blocks) {
  constexpr unsigned kRowsBytes = kRows * kBlockBytes, kStageBytes = kRowsBytes + kColumns * kBlockBytes;
  const bool tells = threadIdx.x % 32 == 0;
  int stage = 0, before = 0;
  unsigned parity = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait(full + 8 * stage, parity);
    const Shared tile = ring + stage * kStageBytes;
    const unsigned long long a = tile_descriptor(tile + group * 64 * kBlockBytes), b = tile_descriptor(tile + kRowsBytes);
    products_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step)
      Products<T, kColumns>::add(sums, a + 2 * step, b + 2 * step, block + step);
    products_commit();
    products_wait<1>();
    if (block > 0 && tells) arrive(empty + 8 * before);
    before = stage;
    if (++stage == p.stages) stage = 0, parity ^= 1;
  }
  products_wait<0>();
}

// Rows [0, rows) of `parts` sums each, whose first row is row `first` of the output: their epilogue, by all threads of the
// warp groups.
template <class Out, int kColumns, int kThreads, int kAct>
__device__ inline void finish(const ContractParams& p, const float* sums, int parts, int rows, int first, int column,
                              Out* out, const Out* residual, const float* bias) {
  constexpr int kVectors = kColumns / 8, kStride = kColumns + kPad;
  for (int i = threadIdx.x; i < rows * kVectors; i += kThreads) {
    const int r = i / kVectors, c = i % kVectors * 8;
    if (first + r >= p.m || column + c >= p.n) continue;
    float y[8] = {};
#pragma unroll 1
    for (int part = 0; part < parts; ++part) {
      const float4* from = reinterpret_cast<const float4*>(sums + (part * rows + r) * kStride + c);
      const float4 low = from[0], high = from[1];
      y[0] += low.x, y[1] += low.y, y[2] += low.z, y[3] += low.w;
      y[4] += high.x, y[5] += high.y, y[6] += high.z, y[7] += high.w;
    }
    float shift[8] = {};
    if (bias) {
      const float4 *from = reinterpret_cast<const float4*>(bias + column + c), low = from[0], high = from[1];
      shift[0] = low.x, shift[1] = low.y, shift[2] = low.z, shift[3] = low.w;
      shift[4] = high.x, shift[5] = high.y, shift[6] = high.z, shift[7] = high.w;
    }
    const long long at = static_cast<long long>(first + r) * p.out_stride + column + c;
    Pack<Out, 8> made, old = {};
    if (residual) old = *reinterpret_cast<const Pack<Out, 8>*>(residual + at);
    const Epilogue epilogue{static_cast<Act>(kAct), static_cast<Residual>(p.residual), p.alpha, p.beta};
#pragma unroll
    for (int j = 0; j < 8; ++j)
      made.at[j] = narrowed<Out>(finished(epilogue, p.scale * y[j] + shift[j], widened(old.at[j])));
    *reinterpret_cast<Pack<Out, 8>*>(out + at) = made;
  }
}

}  // namespace sm90

// kAct, an Act, stands in the code, which otherwise were as long as all of them: code that is not in the near cache costs
// 0.05 us a KB. Blocks of 128 kGroups + 32 threads; clusters of p.split in z. Shared memory: the ring of stages, which later holds the
// sums; where there are clusters sums of `rows x columns` behind it; two barriers a stage.
template <class T, class Out, int kGroups, int kColumns, bool kImage, int kAct>
__global__ void __launch_bounds__(128 * kGroups + 32)
    contract_sm90(const __grid_constant__ sm90::TensorMap a, const __grid_constant__ sm90::TensorMap b, ContractParams p,
                  Out* out, const Out* residual, const float* bias) {
  using namespace sm90;
  constexpr int kRows = 64 * kGroups, kThreads = 128 * kGroups, kStride = kColumns + kPad;
  constexpr unsigned kStageBytes = (kRows + kColumns) * kBlockBytes;
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* base = memory + (-shared_address(memory) & 1023);
  const Shared ring = shared_address(base);
  const unsigned apart = p.split > 1 ? kRows * kStride * 4 : 0;
  float* sums_there = reinterpret_cast<float*>(base + (p.split > 1 ? p.stages * kStageBytes : 0));
  const Shared full = ring + p.stages * kStageBytes + apart, empty = full + 8 * p.stages;
  const int warp = threadIdx.x / 32;
  const bool loads = warp == 4 * kGroups;
  // Of a wide output eight tiles side by side are worked on together, so that they share what the cache holds.
  const int rank = p.split > 1 ? blockIdx.z : 0;
  const int row = blockIdx.y * kRows, column = (blockIdx.x + (p.split > 1 ? 0 : 8 * blockIdx.z)) * kColumns;
  if (column >= p.n) return;  // of the last eight
  if (threadIdx.x == kThreads) {
    let_next_begin();
    prefetch(a);
    prefetch(b);
#pragma unroll 1
    for (int i = 0; i < p.stages; ++i) {
      init(full + 8 * i, 1);
      init(empty + 8 * i, 4 * kGroups);
    }
    fence_init();
  }
  __syncthreads();
  if (p.split > 1) cluster_begin();
  const int begin = p.blocks * rank >> p.split_bits;
  const int end = p.blocks * (rank + 1) >> p.split_bits;
  if (loads) {
    if (threadIdx.x == kThreads)
      Loader<T, kRows, kColumns, kImage>{a, b, p, ring, full, empty, row, column, 0, 0, 0}.run(begin, end);
    __syncwarp();
    if (p.split > 1) {
      cluster_wait();
      cluster_arrive();
      cluster_wait();
    }
    return;
  }
  float sums[kColumns / 2];
  multiply<T, kRows, kColumns>(sums, p, ring, full, empty, warp / 4, end - begin);
  const int lane = threadIdx.x % 32, low = warp * 16 + lane / 4, across = lane % 4 * 2;
  if (p.split == 1) {
    barrier(1, kThreads);  // nobody reads the ring any more
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
      float* to = sums_there + low * kStride + 8 * j + across;
      *reinterpret_cast<float2*>(to) = make_float2(sums[4 * j], sums[4 * j + 1]);
      *reinterpret_cast<float2*>(to + 8 * kStride) = make_float2(sums[4 * j + 2], sums[4 * j + 3]);
    }
    barrier(1, kThreads);
    wait_for_previous();
    return finish<Out, kColumns, kThreads, kAct>(p, sums_there, 1, kRows, row, column, out, residual, bias);
  }
  constexpr int kRowBits = kGroups == 1 ? 6 : 7;
  const int rows_bits = kRowBits - p.split_bits, rows = 1 << rows_bits;
  cluster_wait();  // the others have begun
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int r = low + 8 * half, owner = r >> rows_bits;
    const Shared to = in_block(shared_address(sums_there + (rank * rows + (r & (rows - 1))) * kStride + across), owner);
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j)
      store_there(to + 32 * j, sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
  }
  cluster_arrive();
  cluster_wait();
  wait_for_previous();
  finish<Out, kColumns, kThreads, kAct>(p, sums_there, p.split, rows, row + rank * rows, column, out, residual, bias);
}

}  // namespace trine
