// Max pools of windows of kSize x kSize: of each pixel under a strip first the maximum of its column, then of columns
// those of each output. Padding is -infinity, a NaN stays one.
#include "overlap.cuh"
#include "strips.cuh"

using namespace trine;
using namespace trine::contraction;

namespace {

template <int kType>
constexpr unsigned kLowest = kType == kF32   ? 0xff800000u
                             : kType == kF16 ? 0xfc00fc00u
                                             : 0xff80ff80u;

__device__ inline float larger(float m, float v) { return v > m || v != v ? (m != m ? m : v) : m; }

// Of a word of one number or two.
template <int kType>
__device__ __forceinline__ unsigned larger_word(unsigned a, unsigned b) {
  if constexpr (kType == kF32) {
    return __float_as_uint(larger(__uint_as_float(a), __uint_as_float(b)));
  } else {
    unsigned word;
    if constexpr (kType == kF16) asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(word) : "r"(a), "r"(b));
    else asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(word) : "r"(a), "r"(b));
    return word;
  }
}
template <int kType>
__device__ __forceinline__ void raise(Pixel<kType>& to, const Pixel<kType>& by) {
#pragma unroll
  for (int i = 0; i < Pixel<kType>::kWords; ++i) {
    uint4& m = to.words[i];
    const uint4& v = by.words[i];
    m = make_uint4(larger_word<kType>(m.x, v.x), larger_word<kType>(m.y, v.y), larger_word<kType>(m.z, v.z),
                   larger_word<kType>(m.w, v.w));
  }
}

}  // namespace

template <int kType, int kSize, int kStride, int kColumns, bool kOverlap>
__global__ void __launch_bounds__(kMostStripThreads)
    pool_strips(const __grid_constant__ StripSizes p, const void* x, void* y) {
  meet_neighbours();
  constexpr int kPixels = (kColumns - 1) * kStride + kSize, kBytes = kType == kF32 ? 4 : 2;
  const StripPlace at = StripPlace::of<kColumns, kStride>(p);
  wait_for_results<kOverlap>();
  if (!at.works) return;
  const auto misaligned = [](const void* q) { return (reinterpret_cast<unsigned long long>(q) & 15) != 0; };
  const int x0 = at.x * kStride - p.pad_x, y0 = at.y * p.stride_y - p.pad_y;
  const long long image = at.image * p.image;

  if (misaligned(x) || misaligned(y)) {
#pragma unroll 1
    for (int i = 0; i < kColumns * 8; ++i) {
      if (at.x + i / 8 >= p.out_w) break;
      float most = -__builtin_inff();
#pragma unroll 1
      for (int tap = 0; tap < kSize * kSize; ++tap) {
        const int row = y0 + tap / kSize, column = x0 + i / 8 * kStride + tap % kSize;
        if (unsigned(row) < unsigned(p.in_h) && unsigned(column) < unsigned(p.in_w))
          most = larger(most, float_at(kType, x, image + row * p.row + column * p.pixel + at.channel + i % 8));
      }
      put(kType, y, at.to + i / 8 * p.y_pixel + i % 8, most);
    }
    return;
  }

  const int step = p.pixel * kBytes;
  const char* from = static_cast<const char*>(x) + image * kBytes + (long long)at.from * kBytes;
  Pixel<kType> columns[kPixels];
#pragma unroll
  for (int i = 0; i < kPixels; ++i) columns[i].load(from, false, kLowest<kType>);
  constexpr int kUnrolled = kSize <= 3 ? kSize : 1;
#pragma unroll kUnrolled
  for (int ky = 0; ky < kSize; ++ky, from += (long long)p.row * kBytes) {
    const unsigned limit = unsigned(y0 + ky) < unsigned(p.in_h) ? p.in_w : 0;
    Pixel<kType> pixels[kPixels];
#pragma unroll
    for (int i = 0; i < kPixels; ++i) pixels[i].load(from + i * step, unsigned(x0 + i) < limit, kLowest<kType>);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) raise(columns[i], pixels[i]);
  }
  char* out = static_cast<char*>(y) + at.to * kBytes;
#pragma unroll
  for (int i = 0; i < kColumns; ++i, out += (long long)p.y_pixel * kBytes) {
    Pixel<kType> most = columns[i * kStride];
#pragma unroll
    for (int kx = 1; kx < kSize; ++kx) raise(most, columns[i * kStride + kx]);
    if (at.x + i >= p.out_w) break;
#pragma unroll
    for (int word = 0; word < Pixel<kType>::kWords; ++word) reinterpret_cast<uint4*>(out)[word] = most.words[word];
  }
}
