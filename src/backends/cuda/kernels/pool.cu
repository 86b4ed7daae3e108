// Max and average pools. A thread has one output pixel of N neighbouring channels (nhwc) or of one (nchw); of large
// windows a warp has it, and lanes share the window.
#include "element.cuh"
#include "overlap.cuh"

namespace trine {

// The positions of a window inside the input, and how many count in an average.
struct Span {
  int first, count, divisor;
};

__device__ inline Span span_of(const PoolAxis& a, int out, bool padding_counts) {
  const int begin = out * a.stride - a.pad_begin;
  const auto before = [&](int end) {  // positions below `end`
    const int n = end > begin ? (end - begin - 1) / a.dilation + 1 : 0;
    return n < a.kernel ? n : a.kernel;
  };
  const int skipped = begin < 0 ? (-begin + a.dilation - 1) / a.dilation : 0;
  const int count = before(a.in) - skipped;
  const Span s{begin + skipped * a.dilation, count > 0 ? count : 0, 0};
  return {s.first, s.count, padding_counts ? before(a.in + a.pad_end) : s.count};
}

struct Place {
  Span z, y, x;
  unsigned pixel, channel, image;
};

__device__ inline Place place_of(const PoolSizes& p, unsigned item) {
  Place at;
  if (p.channels_inner) at.channel = taken(item, p.groups);
  unsigned i = item;
  const unsigned x = taken(item, p.width), y = taken(item, p.height), z = taken(item, p.depth);
  at.pixel = i - item * (p.width.divisor * p.height.divisor * p.depth.divisor);
  if (!p.channels_inner) at.channel = taken(item, p.groups);
  at.image = item;
  at.x = span_of(p.axis[2], static_cast<int>(x), p.padding_counts);
  at.y = span_of(p.axis[1], static_cast<int>(y), p.padding_counts);
  at.z = span_of(p.axis[0], static_cast<int>(z), p.padding_counts);
  return at;
}

// A NaN, once met, stays.
__device__ inline float larger(float m, float v) { return v > m || v != v ? (m != m ? m : v) : m; }

template <bool is_max>
__device__ inline float joined(float sum, float v) {
  if constexpr (is_max) return larger(sum, v);
  else return sum + v;
}

// Position `i` of the window, counted z, y, x.
__device__ inline Wide position(const PoolSizes& p, const Place& at, int z, int y, int x) {
  const int iz = at.z.first + z * p.axis[0].dilation, iy = at.y.first + y * p.axis[1].dilation;
  const int ix = at.x.first + x * p.axis[2].dilation;
  return (static_cast<Wide>(iz * p.axis[1].in + iy) * p.axis[2].in + ix) * p.x_pixel;
}

__device__ inline float scale_of(const Place& at) {
  return 1.f / static_cast<float>(static_cast<Wide>(at.z.divisor) * at.y.divisor * at.x.divisor);
}

template <class T, int N, bool is_max>
__global__ void __launch_bounds__(256) pool(PoolSizes p, const T* x, T* y) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  const Place at = place_of(p, item);
  const unsigned channel = at.channel * N, count = p.channels - channel;
  const T* from = x + at.image * p.x_image + channel * p.x_channel;
  const bool whole = aligned<T, N>(from) && p.x_pixel % N == 0;
  float sum[N];
  for (int i = 0; i < N; ++i) sum[i] = is_max ? -kInfinity : 0.f;
  for (int z = 0; z < at.z.count; ++z)
    for (int wy = 0; wy < at.y.count; ++wy)
      for (int wx = 0; wx < at.x.count; ++wx) {
        const Pack<T, N> v = loaded<T, N>(from + position(p, at, z, wy, wx), count, whole);
        for (int i = 0; i < N; ++i) sum[i] = joined<is_max>(sum[i], widened(v.at[i]));
      }
  const float scale = is_max ? 1.f : scale_of(at);
  Pack<T, N> r;
  for (int i = 0; i < N; ++i) r.at[i] = narrowed<T>(is_max ? sum[i] : sum[i] * scale);
  T* to = y + at.image * p.y_image + at.pixel * p.y_pixel + channel * p.y_channel;
  store<T, N>(to, r, count, aligned<T, N>(to));
}

// Blocks of 32 x 8: with channels inside (N of them a thread) a block has 32 groups of one pixel and its 8 warps share
// the window; else each warp has one output and its lanes share the window.
template <class T, int N, bool is_max>
__global__ void __launch_bounds__(256) pool_shared(PoolSizes p, const T* x, T* y) {
  meet_neighbours();
  __shared__ float parts[8][32 * N + 1];
  const unsigned lane = threadIdx.x, warp = threadIdx.y;
  unsigned item;
  if (p.channels_inner) {
    const unsigned blocks = (p.groups.divisor + 31) / 32, group = blockIdx.x % blocks * 32 + lane;
    item = group < p.groups.divisor ? blockIdx.x / blocks * p.groups.divisor + group : p.items;
  } else {
    item = blockIdx.x * 8 + warp;
  }
  const bool works = item < p.items;
  const Place at = place_of(p, works ? item : 0);
  const unsigned channel = at.channel * N, count = p.channels - channel;
  const T* from = x + at.image * p.x_image + channel * p.x_channel;
  const bool whole = aligned<T, N>(from) && p.x_pixel % N == 0;
  float sum[N];
  for (int i = 0; i < N; ++i) sum[i] = is_max ? -kInfinity : 0.f;
  const int all = works ? at.z.count * at.y.count * at.x.count : 0;
#pragma unroll 4
  for (int i = static_cast<int>(p.channels_inner ? warp : lane); i < all; i += p.channels_inner ? 8 : 32) {
    const int wx = i % at.x.count, line = i / at.x.count;
    const Pack<T, N> v = loaded<T, N>(from + position(p, at, line / at.y.count, line % at.y.count, wx), count, whole);
    for (int c = 0; c < N; ++c) sum[c] = joined<is_max>(sum[c], widened(v.at[c]));
  }
  if (p.channels_inner) {
    for (int c = 0; c < N; ++c) parts[warp][c * 32 + lane] = sum[c];
    __syncthreads();
    if (warp) return;
    for (int c = 0; c < N; ++c)
      for (int w = 1; w < 8; ++w) sum[c] = joined<is_max>(sum[c], parts[w][c * 32 + lane]);
  } else {
    for (int d = 16; d > 0; d /= 2) sum[0] = joined<is_max>(sum[0], __shfl_xor_sync(~0u, sum[0], d));
    if (lane) return;
  }
  if (!works) return;
  const float scale = is_max ? 1.f : scale_of(at);
  Pack<T, N> r;
  for (int c = 0; c < N; ++c) r.at[c] = narrowed<T>(is_max ? sum[c] : sum[c] * scale);
  T* to = y + at.image * p.y_image + at.pixel * p.y_pixel + channel * p.y_channel;
  store<T, N>(to, r, count, aligned<T, N>(to));
}

}  // namespace trine
