// Nearest and linear resizing: an output pixel is a weighted sum of up to eight input pixels, which tables name. A
// thread has N neighbouring channels (nhwc) or one (nchw).
#include "element.cuh"
#include "overlap.cuh"

namespace trine {

// `tables`: the readings of depth, height and width, one after the other. `narrowest` keeps what has one reading as it
// is.
template <class T, int N>
__global__ void __launch_bounds__(256) resize(ResizeSizes p, const T* x, const ResizeTaps* tables, T* y) {
  meet_neighbours();
  unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  unsigned group = 0;
  if (p.channels_inner) group = taken(item, p.groups);
  const unsigned ox = taken(item, p.width), oy = taken(item, p.height), oz = taken(item, p.depth);
  if (!p.channels_inner) group = taken(item, p.groups);
  const unsigned channel = group * N, count = p.channels - channel;
  const T* from = x + item * p.x_image + channel * p.x_channel;
  const bool whole = aligned<T, N>(from) && p.x_pixel % N == 0;
  const ResizeTaps rz = tables[oz], ry = tables[p.out[0] + oy], rx = tables[p.out[0] + p.out[1] + ox];
  const auto ends = [](const ResizeTaps& r) { return r.weight == 0.f || r.low == r.high ? 1 : 2; };
  const auto weight = [&](const ResizeTaps& r, int i) { return ends(r) == 1 ? 1.f : i ? r.weight : 1.f - r.weight; };
  float sum[N] = {};
  for (int z = 0; z < ends(rz); ++z)
    for (int wy = 0; wy < ends(ry); ++wy)
      for (int wx = 0; wx < ends(rx); ++wx) {
        const Wide pixel = static_cast<Wide>((z ? rz.high : rz.low) * p.in[1] + (wy ? ry.high : ry.low)) * p.in[2] +
                           (wx ? rx.high : rx.low);
        const float w = weight(rz, z) * weight(ry, wy) * weight(rx, wx);
        const Pack<T, N> v = loaded<T, N>(from + pixel * p.x_pixel, count, whole);
        for (int i = 0; i < N; ++i) sum[i] += w * widened(v.at[i]);
      }
  Pack<T, N> r;
  for (int i = 0; i < N; ++i) r.at[i] = narrowed<T>(sum[i]);
  const Wide pixel = static_cast<Wide>(oz * p.out[1] + oy) * p.out[2] + ox;
  T* to = y + item * p.y_image + pixel * p.y_pixel + channel * p.y_channel;
  store<T, N>(to, r, count, aligned<T, N>(to));
}

}  // namespace trine
