// Large contractions on compute capability 9.0: as many blocks as multiprocessors, each of which goes over tiles of 128 x
// 128. Two warp groups take turns: while one multiplies, the other finishes its tile; a warp brings the data of one tile
// behind the other.
#include "contract_sm90.cuh"

namespace trine {

namespace sm90 {

constexpr int kSide = 128, kStageOfTurns = 2 * kSide * kBlockBytes;
constexpr int kPiece = 32, kPieceStride = kPiece + kPad;  // columns that a warp finishes at once
constexpr int kWarps = 8;                                 // that multiply
constexpr unsigned kStagingBytes = kWarps * 16 * kPieceStride * 4;

struct TilePlace {
  int row, column;
};

// Eight tiles side by side are worked on together, so that they share what the cache holds.
__device__ __forceinline__ TilePlace place_of(const TurnParams& turns, int tile) {
  const int eight = divided(tile, turns.of_eight), within = tile - eight * turns.of_eight.divisor;
  const int side = min(8, turns.across - 8 * eight), down = within / side;
  return {down * kSide, (8 * eight + within - down * side) * kSide};
}

// A warp group's products: of rows 0 to 63 and of rows 64 to 127.
struct Products128 {
  float half[2][kSide / 2];
};

struct RingPlace {
  int stage;
  unsigned parity;
  __device__ __forceinline__ void next(int stages) {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
};

template <class T>
__device__ __forceinline__ void multiply(Products128& sums, const ContractParams& p, Shared ring, Shared full, Shared empty,
                                RingPlace at, Shared turn_of_other) {
  const bool tells = threadIdx.x % 32 == 0;
  int before = 0;
#pragma unroll 1
  for (int block = 0; block < p.blocks; ++block) {
    wait(full + 8 * at.stage, at.parity);
    const Shared tile = ring + at.stage * kStageOfTurns;
    const unsigned long long a = tile_descriptor(tile), b = tile_descriptor(tile + kSide * kBlockBytes);
    products_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        Products<T, kSide>::add(sums.half[half], a + 64 * kBlockBytes / 16 * half + 2 * step, b + 2 * step, block + step);
    products_commit();
    products_wait<1>();
    if (block > 0 && tells) arrive(empty + 8 * before);
    before = at.stage;
    at.next(p.stages);
  }
  if (threadIdx.x % 128 == 0) arrive(turn_of_other);
  products_wait<0>();
  if (tells) arrive(empty + 8 * before);
}

// A warp finishes 16 rows of each half, 32 columns at a time, through its own part of shared memory; a lane always has
// the same two of a piece's 64 vectors.
template <class Out, int kAct>
struct FinishOfTurns {
  using Vector = Pack<Out, 8>;
  static constexpr int kPieces = kSide / kPiece;
  const ContractParams& p;
  const float* bias;
  const Out* residual;
  Out* out;
  float* staging;
  Vector* kept;  // the residual: 16 vectors of each lane, one row of 32 for each

  struct Place {
    int row, column;
  };
  __device__ __forceinline__ Place place_of(const TilePlace& tile, int half, int piece, int i) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    return {tile.row + 64 * half + 16 * warp + lane / 4 + 8 * i, tile.column + kPiece * piece + lane % 4 * 8};
  }
  __device__ __forceinline__ bool there(const Place& at) const { return at.row < p.m && at.column < p.n; }
  __device__ __forceinline__ long long offset_of(const Place& at) const { return static_cast<long long>(at.row) * p.out_stride + at.column; }

  // The residual comes while the products are made.
  __device__ __forceinline__ void bring_residual(const TilePlace& tile) const {
    if (!residual) return;
    Shared to = shared_address(kept);
#pragma unroll 1
    for (int v = 0; v < 4 * kPieces; ++v, to += 32 * sizeof(Vector)) {
      const Place at = place_of(tile, v / (2 * kPieces), v / 2 % kPieces, v % 2);
      if (there(at)) copy_16(to, residual + offset_of(at));
    }
  }

  __device__ __forceinline__ void run(const Products128& sums, const TilePlace& tile) const {
    const int lane = threadIdx.x % 32;
    copies_wait();
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < kPiece / 8; ++j) {
          float* to = staging + lane / 4 * kPieceStride + 8 * j + lane % 4 * 2;
          const float* from = sums.half[half] + piece * kPiece / 2 + 4 * j;
          *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
          *reinterpret_cast<float2*>(to + 8 * kPieceStride) = make_float2(from[2], from[3]);
        }
        Sums shift = {};
        const Place first = place_of(tile, half, piece, 0);
        if (bias && first.column < p.n) add(shift, bias + first.column);
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < 2; ++i) {
          const Place at = place_of(tile, half, piece, i);
          if (!there(at)) break;
          Sums y = {};
          add(y, staging + (lane / 4 + 8 * i) * kPieceStride + lane % 4 * 8);
          Vector before = {};
          if (residual) before = kept[((half * kPieces + piece) * 2 + i) * 32];
          *reinterpret_cast<Vector*>(out + offset_of(at)) = finished<kAct, Out>(p, y, shift, before);
        }
      }
  }
};

}  // namespace sm90

// Blocks of 384 threads, one on a multiprocessor. Shared memory: the ring of stages, the warps' staging, the residual of
// 64 KB if there is one, two barriers a stage, one for each group's turn.
template <class T, class Out, bool kImage, int kAct>
__global__ void __launch_bounds__(384, 1)
    contract_sm90_turns(const __grid_constant__ sm90::TensorMap a, const __grid_constant__ sm90::TensorMap b,
                        ContractParams p, TurnParams turns, const float* bias, const Out* residual,
                        const void* /*scale*/, Out* out) {
  using namespace sm90;
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* base = memory + (-shared_address(memory) & 1023);
  const Shared ring = shared_address(base);
  const Shared staged = ring + p.stages * kStageOfTurns;
  const Shared full = staged + kStagingBytes + (residual ? 2 * kSide * kSide * sizeof(Out) : 0);
  const Shared empty = full + 8 * p.stages;
  const Shared turn = empty + 8 * p.stages;
  const int warp = threadIdx.x / 32, step = gridDim.x;
  if (threadIdx.x == 256) {
    let_next_begin();
    prefetch(a);
    prefetch(b);
#pragma unroll 1
    for (int i = 0; i < p.stages; ++i) {
      init(full + 8 * i, 1);
      init(empty + 8 * i, 4);
    }
    init(turn, 1);
    init(turn + 8, 1);
    fence_init();
  }
  __syncthreads();
  if (warp >= kWarps) {
    leave_registers<24>();
    if (threadIdx.x != 256) return;
    Loader<T, kSide, kSide, kImage> loader{a, b, p, ring, full, empty};
    for (int tile = blockIdx.x; tile < turns.tiles; tile += step) {
      const TilePlace at = place_of(turns, tile);
      loader.go_to(at.row, at.column);
      if (tile == blockIdx.x) {
        loader.begin(0, p.blocks);
      } else {
        auto block = loader.place_of(0);
        loader.bring(block, p.blocks);
      }
    }
    return;
  }
  take_registers<240>();
  wait_for_previous();
  const int group = warp / 4;
  float* staging = reinterpret_cast<float*>(base + p.stages * kStageOfTurns);
  const FinishOfTurns<Out, kAct> finish{
      p, bias, residual, out, staging + warp * 16 * kPieceStride,
      reinterpret_cast<Pack<Out, 8>*>(base + p.stages * kStageOfTurns + kStagingBytes) +
          warp * 16 * 32 + threadIdx.x % 32};
  unsigned parity = group == 0;  // of this group's turn: the first begins at once
#pragma unroll 1
  for (int i = group;; i += 2, parity ^= 1) {
    const int tile = blockIdx.x + i * step;
    if (tile >= turns.tiles) return;
    const TilePlace place = place_of(turns, tile);
    finish.bring_residual(place);
    const unsigned before = static_cast<unsigned>(i) * p.blocks, rounds = before / p.stages;
    Products128 sums;
    wait(turn + 8 * group, parity);
    multiply<T>(sums, p, ring, full, empty, {static_cast<int>(before - rounds * p.stages), rounds & 1},
                turn + 8 * (1 - group));
    finish.run(sums, place);
  }
}

}  // namespace trine
