// Convolutions of NHWC images and products of matrices on compute capability 9.0: y[m, n] = sum over k of a[m, k] b[n, k].
// Rows of `a` are rows of a matrix, or windows of an image (im2col by the copy engine); k counts taps, then channels.
// One warp brings blocks of 128 bytes of k into a ring of stages; warp groups of 64 rows each multiply them. The blocks
// of a cluster divide k among themselves; each then pushes its sums of some rows into the memory of the block that
// finishes these rows.
#include "contract_sm90.cuh"

namespace trine {

namespace sm90 {

// A warp group's sums of 64 rows.
template <class T, int kRows, int kColumns>
__device__ __forceinline__ void multiply(float (&sums)[kColumns / 2], const ContractParams& p, Shared ring, Shared full,
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

// Reads and writes rows of results: a thread always has the same eight columns.
template <class Out, int kColumns, int kThreads, int kAct>
struct Finish {
  static constexpr int kVectors = kColumns / 8, kStride = kColumns + kPad, kStep = kThreads / kVectors;
  using Vector = Pack<Out, 8>;
  const ContractParams& p;
  const float* bias;
  const Out* residual;
  Out* out;
  Vector* kept;             // the residual in shared memory: each thread's vectors for itself
  int rows, first, column;  // of the output: rows [first, first + rows)

  __device__ __forceinline__ int row() const { return threadIdx.x / kVectors; }
  __device__ __forceinline__ int c() const { return column + threadIdx.x % kVectors * 8; }
  __device__ __forceinline__ long long at(int r) const { return static_cast<long long>(first + r) * p.out_stride + c(); }
  __device__ __forceinline__ bool there(int r) const { return r < rows && first + r < p.m && c() < p.n; }

  // The residual comes while the products are made.
  __device__ __forceinline__ void bring_residual() const {
    if (!residual) return;
    Shared to = shared_address(kept + threadIdx.x);
#pragma unroll 1
    for (int r = row(); there(r); r += kStep, to += kThreads * sizeof(Vector))
#pragma unroll
      for (unsigned piece = 0; piece < sizeof(Vector); piece += 16)
        copy_16(to + piece, reinterpret_cast<const char*>(residual + at(r)) + piece);
  }

  __device__ __forceinline__ Sums shift() const {
    Sums s = {};
    if (bias && c() < p.n) add(s, bias + c());
    return s;
  }

  // Rows of `parts` sums each.
  __device__ __forceinline__ void run(const float* sums, int parts, const Sums& shift) const {
    const Vector* old = kept + threadIdx.x;
    sums += threadIdx.x % kVectors * 8;
    copies_wait();
#pragma unroll 1
    for (int r = row(); there(r); r += kStep, old += kThreads) {
      Sums y = {};
#pragma unroll 1
      for (int part = 0; part < parts; ++part) add(y, sums + (part * rows + r) * kStride);
      Vector before = {};
      if (residual) before = *old;
      *reinterpret_cast<Vector*>(out + at(r)) = finished<kAct, Out>(p, y, shift, before);
    }
  }
};

}  // namespace sm90

// kAct, an Act, stands in the code, which otherwise were as long as all of them: code that is not in the near cache costs
// 0.05 us a KB. Blocks of 128 kGroups + 32 threads; clusters of p.split in z. Shared memory: the ring of stages, which later holds the
// sums; where there are clusters sums of `rows x columns` behind it; the
// residual, if there is one; two barriers a stage.
template <class T, class Out, int kGroups, int kColumns, bool kImage, int kAct>
__global__ void __launch_bounds__(128 * kGroups + 32)
    contract_sm90(const __grid_constant__ sm90::TensorMap a, const __grid_constant__ sm90::TensorMap b, ContractParams p,
                  const float* bias, const Out* residual, const void* /*scale*/, Out* out) {
  using namespace sm90;
  constexpr int kRows = 64 * kGroups, kThreads = 128 * kGroups, kStride = kColumns + kPad;
  constexpr unsigned kStageBytes = (kRows + kColumns) * kBlockBytes;
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* base = memory + (-shared_address(memory) & 1023);
  const Shared ring = shared_address(base);
  const unsigned apart = p.split > 1 ? kRows * kStride * 4 : 0;
  float* sums_there = reinterpret_cast<float*>(base + (p.split > 1 ? p.stages * kStageBytes : 0));
  const unsigned kept = residual ? (kRows >> p.split_bits) * kColumns * sizeof(Out) : 0;
  const Shared full = ring + p.stages * kStageBytes + apart + kept, empty = full + 8 * p.stages;
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
    if (threadIdx.x == kThreads) {
      Loader<T, kRows, kColumns, kImage> loader{a, b, p, ring, full, empty};
      loader.go_to(row, column);
      loader.begin(begin, end);
    }
    __syncwarp();
    if (p.split > 1) {
      cluster_wait();
      cluster_arrive();
      cluster_wait();
    }
    return;
  }
  const int rows = kRows >> p.split_bits;  // that this block finishes
  const Finish<Out, kColumns, kThreads, kAct> finish{
      p, bias, residual, out, reinterpret_cast<Pack<Out, 8>*>(base + p.stages * kStageBytes + apart),
      rows, row + rank * rows, column};
  wait_for_previous();
  finish.bring_residual();
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
    const auto shift = finish.shift();
    barrier(1, kThreads);
    return finish.run(sums_there, 1, shift);
  }
  constexpr int kRowBits = kGroups == 1 ? 6 : 7;
  const int rows_bits = kRowBits - p.split_bits;
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
  const auto shift = finish.shift();
  cluster_wait();
  finish.run(sums_there, p.split, shift);
}

}  // namespace trine
