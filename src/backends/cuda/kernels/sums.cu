// What needs all of a row or set first: softmax, normalisations, reductions. kThreads threads have a row: a warp or a
// block of 256.
#include "element.cuh"
#include "overlap.cuh"

namespace trine {

// Of all threads that have a row, in one order.
template <int kThreads, class Join>
__device__ inline float over_threads(float v, Join&& join) {
  for (int d = 16; d > 0; d /= 2) v = join(v, __shfl_xor_sync(~0u, v, d));
  if constexpr (kThreads > 32) {
    __shared__ float parts[kThreads / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
    for (int i = 1; i < kThreads / 32; ++i) v = join(v, parts[i]);
  }
  return v;
}

__device__ inline float plus(float a, float b) { return a + b; }
// A NaN stays.
__device__ inline float larger(float a, float b) { return a != a ? a : b > a || b != b ? b : a; }

__device__ inline float softened(int kind, float x, float most, float scale) {
  return kind == 2 ? x - most - scale : expf(x - most) * scale;
}

// From the sum of exp(x - most): what `softened` wants.
__device__ inline float scale_of(int kind, float sum) { return kind == 2 ? logf(sum) : 1.f / sum; }

template <class T, int kThreads>
__global__ void __launch_bounds__(256) softmax_rows(SoftmaxSizes p, const T* x, T* y) {
  meet_neighbours();
  const Wide row = static_cast<Wide>(blockIdx.x) * (256 / kThreads) + threadIdx.x / kThreads;
  if (row >= p.outer) return;
  const int first = static_cast<int>(threadIdx.x) % kThreads;
  x += row * p.axis, y += row * p.axis;
  float most = -kInfinity, sum = 0;
  for (int i = first; i < p.axis; i += kThreads) most = larger(most, widened(x[i]));
  most = over_threads<kThreads>(most, larger);
  const bool nothing = most == -kInfinity;
  if (p.kind == 1 || nothing) most = p.kind == 1 && most != most ? most : 0.f;
  for (int i = first; i < p.axis; i += kThreads) sum += expf(widened(x[i]) - most);
  sum = over_threads<kThreads>(sum, plus);
  const float scale = scale_of(p.kind, sum);
  for (int i = first; i < p.axis; i += kThreads)
    y[i] = narrowed<T>(nothing ? (p.kind == 2 ? -kInfinity : 0.f) : softened(p.kind, widened(x[i]), most, scale));
}

// A thread has a column of an axis that is not the innermost.
template <class T>
__global__ void __launch_bounds__(256) softmax_columns(SoftmaxSizes p, const T* x, T* y) {
  meet_neighbours();
  const Wide item = static_cast<Wide>(blockIdx.x) * 256 + threadIdx.x;
  if (item >= static_cast<Wide>(p.outer) * p.inner) return;
  const Wide at = item / p.inner * p.axis * p.inner + item % p.inner;
  x += at, y += at;
  float most = -kInfinity, sum = 0;
  for (int i = 0; i < p.axis; ++i) most = larger(most, widened(x[static_cast<Wide>(i) * p.inner]));
  const bool nothing = most == -kInfinity;
  if (p.kind == 1 || nothing) most = p.kind == 1 && most != most ? most : 0.f;
  for (int i = 0; i < p.axis; ++i) sum += expf(widened(x[static_cast<Wide>(i) * p.inner]) - most);
  const float scale = scale_of(p.kind, sum);
  for (int i = 0; i < p.axis; ++i) {
    const Wide j = static_cast<Wide>(i) * p.inner;
    y[j] = narrowed<T>(nothing ? (p.kind == 2 ? -kInfinity : 0.f) : softened(p.kind, widened(x[j]), most, scale));
  }
}

template <class T>
__device__ inline T normalised(const NormSizes& p, float x, float mean, float inverse, const float* scale,
                               const float* shift, const T* z, Wide at, int c) {
  float y = (x - mean) * inverse;
  if (scale) y *= scale[c];
  if (shift) y += shift[c];
  if (z) y += widened(z[at]);
  return narrowed<T>(p.relu && y < 0.f ? 0.f : y);
}

// A set a row: mean, then variance around it, then the results.
template <class T, int kThreads>
__global__ void __launch_bounds__(256)
    norm_sets(NormSizes p, const T* x, const float* scale, const float* shift, const float* running, const T* z, T* y,
              float* saved, float* running_out) {
  meet_neighbours();
  const int set = static_cast<int>(blockIdx.x) * (256 / kThreads) + static_cast<int>(threadIdx.x) / kThreads;
  if (set >= p.sets) return;
  const int first = static_cast<int>(threadIdx.x) % kThreads, of_image = p.channels / p.set_channels;
  const int image = p.batch ? 0 : set / of_image, c0 = p.batch ? set : set % of_image * p.set_channels;
  const unsigned of_set = static_cast<unsigned>(p.set_channels) * static_cast<unsigned>(p.pixels);
  const int count = static_cast<int>(of_set) * p.images;
  int channel = 0;
  const auto place = [&](int i) {  // of the set's element i, and its channel
    unsigned j = static_cast<unsigned>(i);
    unsigned c, pixel;
    if (p.channels_inner) c = taken(j, p.group), pixel = taken(j, p.pixel);
    else pixel = taken(j, p.pixel), c = taken(j, p.group);
    channel = c0 + static_cast<int>(c);
    const Wide n = image + static_cast<int>(j);
    return p.channels_inner ? (n * p.pixels + pixel) * p.channels + channel
                            : (n * p.channels + channel) * p.pixels + pixel;
  };
  float mean = 0, sum = 0;
  if (p.centred) {
    for (int i = first; i < count; i += kThreads) sum += widened(x[place(i)]);
    mean = over_threads<kThreads>(sum, plus) / static_cast<float>(count);
  }
  sum = 0;
  for (int i = first; i < count; i += kThreads) {
    const float d = widened(x[place(i)]) - mean;
    sum = fmaf(d, d, sum);
  }
  sum = over_threads<kThreads>(sum, plus);
  const float variance = sum / static_cast<float>(count), inverse = 1.f / sqrtf(variance + p.epsilon);
  for (int i = first; i < count; i += kThreads) {
    const Wide at = place(i);
    y[at] = normalised(p, widened(x[at]), mean, inverse, scale, shift, z, at, channel);
  }
  if (first) return;
  if (saved) saved[set] = mean, saved[p.sets + set] = inverse;
  if (p.batch && running_out) {
    const float unbiased = count > 1 ? sum / static_cast<float>(count - 1) : variance;
    running_out[set] = (1 - p.momentum) * running[set] + p.momentum * mean;
    running_out[p.sets + set] = (1 - p.momentum) * running[p.sets + set] + p.momentum * unbiased;
  }
}

// Batch norm with a mean and a variance that are known: one element a thread.
template <class T>
__global__ void __launch_bounds__(256) norm_known(NormSizes p, const T* x, const float* scale, const float* shift,
                                                  const float* running, const T* z, T* y) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  unsigned i = item;
  if (!p.channels_inner) taken(i, p.pixel);
  const int c = static_cast<int>(taken(i, p.channel));
  const float inverse = 1.f / sqrtf(running[p.channels + c] + p.epsilon);
  y[item] = normalised(p, widened(x[item]), running[c], inverse, scale, shift, z, item, c);
}

// dnn::ReduceKind: what one element counts for, and two together.
__device__ inline float counted(int kind, float x) {
  if (kind == 4 || kind == 6) return fabsf(x);
  if (kind == 7) return x * x;
  return kind == 8 && x == 0.f ? 1.f : x;
}
__device__ inline bool is_product(int kind) { return kind == 1 || kind == 8; }
__device__ inline bool is_extreme(int kind) { return kind >= 2 && kind <= 4; }

struct Found {
  float value;
  int place;
};
// Whether b stands before a: a NaN before all, of equal ones the first.
__device__ inline bool precedes(int kind, Found b, Found a) {
  const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
  if (nan_a != nan_b) return nan_b;
  if (nan_a || a.value == b.value) return b.place < a.place;
  return kind == 2 ? b.value < a.value : b.value > a.value;
}

template <class T, int kThreads>
__global__ void __launch_bounds__(256) reduce(ReduceSizes p, const T* a, const T* c, T* y, int* indices) {
  meet_neighbours();
  const unsigned item = blockIdx.x * (256 / kThreads) + threadIdx.x / kThreads;
  if (item >= p.outside.items) return;
  const auto at = [](const CopySizes& s, unsigned i) {
    Wide place = 0;
    for (int axis = s.axes - 1; axis >= 0; --axis) place += taken(i, s.size[axis]) * s.in[axis];
    return place;
  };
  const T* from = a + at(p.outside, item);
  const unsigned first = threadIdx.x % kThreads;
  const int kind = p.kind;
  float r;
  int where = 0;
  if (is_extreme(kind)) {
    Found best{kind == 2 ? kInfinity : -kInfinity, 0x7fffffff};
    for (unsigned i = first; i < p.inside.items; i += kThreads) {
      const Found f{counted(kind, widened(from[at(p.inside, i)])), static_cast<int>(i)};
      if (precedes(kind, f, best)) best = f;
    }
    __shared__ Found parts[8];
    for (int d = 16; d > 0; d /= 2) {
      const Found f{__shfl_xor_sync(~0u, best.value, d), __shfl_xor_sync(~0u, best.place, d)};
      if (precedes(kind, f, best)) best = f;
    }
    if constexpr (kThreads > 32) {
      if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = best;
      __syncthreads();
      for (int i = 0; i < 8; ++i)
        if (precedes(kind, parts[i], best)) best = parts[i];
    }
    r = best.value, where = best.place == 0x7fffffff ? 0 : best.place;
  } else {
    r = is_product(kind) ? 1.f : 0.f;
    for (unsigned i = first; i < p.inside.items; i += kThreads) {
      const float v = counted(kind, widened(from[at(p.inside, i)]));
      r = is_product(kind) ? r * v : r + v;
    }
    r = over_threads<kThreads>(r, [&](float b, float d) { return is_product(kind) ? b * d : b + d; });
    if (kind == 5) r /= static_cast<float>(p.inside.items);
    if (kind == 7) r = sqrtf(r);
  }
  if (first) return;
  r *= p.alpha;
  if (p.beta != 0.f) r += p.beta * widened(c[item]);
  y[item] = narrowed<T>(r);
  if (indices) indices[item] = where;
}

}  // namespace trine
