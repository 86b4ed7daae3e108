// Strided copies of elements of any size, and rows by index.
#include "element.cuh"
#include "overlap.cuh"

namespace trine {

struct alignas(16) Sixteen {
  unsigned long long low, high;
};

struct Places {
  Wide in, out;
};

// Where position `i` of axes [0, axes) stands.
__device__ inline Places counted(const CopySizes& p, int axes, unsigned i) {
  Places at{0, 0};
  for (int a = axes - 1; a >= 0; --a) {
    const unsigned r = taken(i, p.size[a]);
    at.in += r * p.in[a];
    at.out += r * p.out[a];
  }
  return at;
}

// A thread copies one element; T may be several elements of the problem that lie side by side, and then memory may be
// aligned to less: to `unit` bytes.
template <class T, class Unit>
__global__ void __launch_bounds__(256) copy_elements(CopySizes p, const T* x, T* y) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  const Places at = counted(p, p.axes, item);
  if (aligned<T, 1>(x) && aligned<T, 1>(y)) {
    y[at.out] = x[at.in];
  } else {
    const Unit* from = reinterpret_cast<const Unit*>(x + at.in);
    Unit* to = reinterpret_cast<Unit*>(y + at.out);
    for (unsigned i = 0; i < sizeof(T) / sizeof(Unit); ++i) to[i] = from[i];
  }
}

// Transposes: the last axis is contiguous in y, the one before it in x. A block of 256 threads has kTile of both; N
// elements are read and written at a time where they lie so (strides of N, of the tile's rows).
template <class T, int N>
__global__ void __launch_bounds__(256) copy_transposed(CopySizes p, const T* x, T* y) {
  meet_neighbours();
  constexpr int kTile = sizeof(T) <= 2 ? 64 : 32, kPitch = kTile + (sizeof(T) <= 2 ? 4 / sizeof(T) : 1);
  constexpr int kGroups = kTile / N, kStep = 256 / kGroups;
  __shared__ T tile[kTile * kPitch];
  const int last = p.axes - 1;
  const int rows = static_cast<int>(p.size[last].divisor), columns = static_cast<int>(p.size[last - 1].divisor);
  const int across = (columns + kTile - 1) / kTile, down = (rows + kTile - 1) / kTile;
  unsigned block = blockIdx.x;
  const int column = static_cast<int>(block % across) * kTile, row = static_cast<int>(block / across % down) * kTile;
  const Places at = counted(p, last - 1, block / across / down);
  const T* from = x + at.in + row * p.in[last] + column;
  T* to = y + at.out + column * p.out[last - 1] + row;
  const bool whole_in = aligned<T, N>(from) && p.in[last] % N == 0;
  const bool whole_out = aligned<T, N>(to) && p.out[last - 1] % N == 0;
  const int inner = static_cast<int>(threadIdx.x) % kGroups * N, outer = static_cast<int>(threadIdx.x) / kGroups;
  for (int r = outer; r < kTile; r += kStep) {
    if (row + r >= rows || column + inner >= columns) continue;
    const auto v =
        loaded<T, N>(from + r * p.in[last] + inner, static_cast<unsigned>(columns - column - inner), whole_in);
    for (int i = 0; i < N; ++i) tile[r * kPitch + inner + i] = v.at[i];
  }
  __syncthreads();
  for (int c = outer; c < kTile; c += kStep) {
    if (column + c >= columns || row + inner >= rows) continue;
    Pack<T, N> v;
    for (int i = 0; i < N; ++i) v.at[i] = tile[(inner + i) * kPitch + c];
    store<T, N>(to + c * p.out[last - 1] + inner, v, static_cast<unsigned>(rows - row - inner), whole_out);
  }
}

// out[o, i, :] = in[o, index[i], :], a piece (T) a thread. An index out of range is told in `fault` and reads row 0.
template <class T, class Index>
__global__ void __launch_bounds__(256) gather(GatherSizes p, const char* x, const Index* index, char* y, Wide* fault) {
  meet_neighbours();
  unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  const unsigned piece = taken(item, p.pieces);
  const unsigned row = item;
  const unsigned i = taken(item, p.count);
  const Wide given = index[i];
  Wide at = given < 0 ? given + p.axis : given;
  if (at < 0 || at >= p.axis) {
    if (fault && atomicCAS(reinterpret_cast<unsigned long long*>(fault), 0ull, 1ull) == 0) fault[1] = given;
    at = 0;
  }
  const char* from = x + (item * p.axis + at) * p.inner + piece * static_cast<Wide>(sizeof(T));
  char* to = y + row * p.inner + piece * static_cast<Wide>(sizeof(T));
  if (p.axis == 0) return;
  if (aligned<T, 1>(reinterpret_cast<const T*>(from)) && aligned<T, 1>(reinterpret_cast<const T*>(to))) {
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  } else {
    for (unsigned b = 0; b < sizeof(T); ++b) to[b] = from[b];
  }
}

}  // namespace trine
