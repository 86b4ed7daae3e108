// Texture reads on the CPU: coordinates to texels, texels to numbers, weighted sums.
//
//   linear, one dimension:  tex(x) = (1 - a) T[i] + a T[i + 1],  i = floor(x - 0.5),  a = x - 0.5 - i in 8 bits
//
// after the formulas of the CUDA C++ Programming Guide, "Texture Fetching". In code for lanes everything that comes
// from the view is uniform: its branches are taken once for all lanes, and texels are gathered.
#pragma once

#include "host_defines.h"
#include "trine_texture_view.h"
#include "vector_types.h"

namespace trine_texture {

#define TRINE_TEX __TRINE_DEVICE__
#ifdef __CUDA__
#define TRINE_TEX_MEMBER __inline__ __attribute__((always_inline, device))
#else
#define TRINE_TEX_MEMBER __inline__ __attribute__((always_inline))
#endif

// Two neighbours along one dimension.
struct Axis {
  int first, second;  // in bytes
  bool first_inside, second_inside;
  float weight;  // of the second
};

TRINE_TEX float limited(float x, float low, float high) { return __builtin_fminf(__builtin_fmaxf(x, low), high); }
TRINE_TEX int clamped(int i, int low, int high) { return i < low ? low : i > high ? high : i; }

// The coordinate in texels, with texels to 2 n where they are mirrored; what is no number is 0, as on GPUs.
TRINE_TEX float in_texels(float x, int n, int address, int normalized) {
  const float size = (float)n;
  if (normalized) {
    if (address == kWrap) x = x - __builtin_floorf(x);
    if (address == kMirror) x = x - 2 * __builtin_floorf(x * 0.5f);
    x = x * size;
  }
  x = x == x ? x : 0;
  return limited(x, -2, 2 * size + 2);
}

TRINE_TEX int folded(int i, int n, int address) {
  if (address == kWrap) i = i < 0 ? i + n : i;
  if (address == kMirror) i = i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
  return clamped(i, 0, n - 1);
}

// Texels at `u`, along a dimension whose texels are `stride` bytes apart.
TRINE_TEX Axis neighbours(float u, int n, int address, int linear, int stride) {
  int low = (int)__builtin_floorf(u);
  float weight = 0;
  if (linear) {
    const int fixed = (int)__builtin_floorf(u * 256 - 128 + 0.5f);
    low = fixed >> 8;
    weight = (float)(fixed & 255) * (1.0f / 256);
  }
  int high = low + 1;
  const bool anywhere = address != kBorder;
  const bool low_inside = anywhere || (low >= 0 && low < n), high_inside = anywhere || (high >= 0 && high < n);
  if (address == kWrap) high = high >= n ? high - n : high;
  return {folded(low, n, address) * stride, folded(high, n, address) * stride, low_inside, high_inside, weight};
}

TRINE_TEX Axis along(const TextureView& view, float x, int n, int dimension, int stride) {
  const int address = view.address[dimension];
  return neighbours(in_texels(x, n, address, view.normalized), n, address, view.linear, stride);
}

TRINE_TEX Axis nowhere() { return {0, 0, true, true, 0}; }

TRINE_TEX float float_of_half(unsigned h) {
  const unsigned exponent = h >> 10 & 31, mantissa = h & 1023;
  const unsigned bits = (exponent == 31 ? 255u : exponent + 112) << 23 | mantissa << 13;
  const float magnitude = exponent ? __builtin_bit_cast(float, bits) : (float)mantissa * 0x1p-24f;
  return h & 0x8000 ? -magnitude : magnitude;
}

// Memory that others may know as another type.
template <class T>
TRINE_TEX T load(const char* at) {
  typedef T __attribute__((may_alias)) Any;
  return *(const Any*)at;
}

// The number in one channel; sRGB leaves the fourth alone.
struct Float32 {
  static TRINE_TEX_MEMBER float read(const TextureView&, const char* at, bool) { return load<float>(at); }
};
struct Float16 {
  static TRINE_TEX_MEMBER float read(const TextureView&, const char* at, bool) {
    return float_of_half(load<unsigned short>(at));
  }
};
struct Srgb8 {
  static TRINE_TEX_MEMBER float read(const TextureView& view, const char* at, bool fourth) {
    const unsigned char code = load<unsigned char>(at);
    return fourth ? (float)code / 255 : view.srgb[code];
  }
};
template <class T, int kOne>
struct Norm {
  static TRINE_TEX_MEMBER float read(const TextureView&, const char* at, bool) {
    return __builtin_fmaxf((float)load<T>(at) / kOne, -1.0f);
  }
};

TRINE_TEX float4 blended(const float4& a, const float4& b, float w) {
  const float v = 1 - w;
  return {v * a.x + w * b.x, v * a.y + w * b.y, v * a.z + w * b.z, v * a.w + w * b.w};
}

// The neighbours of a sample; what has no third dimension has the start of its layer in `z`.
struct Place {
  const char* texels;
  Axis x, y, z;
};

// Reads and weighs texels of a sample.
template <class Format, int kDimensions>
struct Sample {
  const TextureView& view;
  const Place& at;

  TRINE_TEX_MEMBER float4 texel(int offset, bool inside) const {
    const char* from = at.texels + offset;
    const int channels = view.channels;
    float4 t;
    t.x = Format::read(view, from, false);
    t.y = Format::read(view, from + view.offset_y, false);
    t.z = Format::read(view, from + view.offset_z, false);
    t.w = Format::read(view, from + view.offset_w, true);
    t.x = inside ? t.x : view.border[0];
    t.y = !inside ? view.border[1] : channels > 1 ? t.y : 0;
    t.z = !inside ? view.border[2] : channels > 2 ? t.z : 0;
    t.w = !inside ? view.border[3] : channels > 3 ? t.w : 0;
    return t;
  }
  TRINE_TEX_MEMBER float4 row(int offset, bool inside) const {
    return blended(texel(offset + at.x.first, inside && at.x.first_inside),
                   texel(offset + at.x.second, inside && at.x.second_inside), at.x.weight);
  }
  TRINE_TEX_MEMBER float4 plane(int offset, bool inside) const {
    if (kDimensions < 2) return row(offset, inside);
    return blended(row(offset + at.y.first, inside && at.y.first_inside),
                   row(offset + at.y.second, inside && at.y.second_inside), at.y.weight);
  }
  TRINE_TEX_MEMBER float4 value() const {
    if (kDimensions == 0 || !view.linear)
      return texel(at.x.first + at.y.first + at.z.first, at.x.first_inside && at.y.first_inside && at.z.first_inside);
    if (kDimensions < 3) return plane(at.z.first, true);
    return blended(plane(at.z.first, at.z.first_inside), plane(at.z.second, at.z.second_inside), at.z.weight);
  }
};

// Integers that are read as floats without being asked for as fractions are taken as fractions. No dimensions: one
// texel, whatever the filter.
template <int kDimensions>
TRINE_TEX float4 weighed(const TextureView& view, const Place& at) {
  switch (view.decode) {
    case kFloat16: return Sample<Float16, kDimensions>{view, at}.value();
    case kSrgb8: return Sample<Srgb8, kDimensions>{view, at}.value();
    case kUnsigned8:
    case kUnsigned8Norm: return Sample<Norm<unsigned char, 255>, kDimensions>{view, at}.value();
    case kSigned8:
    case kSigned8Norm: return Sample<Norm<signed char, 127>, kDimensions>{view, at}.value();
    case kUnsigned16:
    case kUnsigned16Norm: return Sample<Norm<unsigned short, 65535>, kDimensions>{view, at}.value();
    case kSigned16:
    case kSigned16Norm: return Sample<Norm<short, 32767>, kDimensions>{view, at}.value();
    default: return Sample<Float32, kDimensions>{view, at}.value();
  }
}

// The words of a texel, widened from its type.
template <class T>
TRINE_TEX int4 words_of(const TextureView& view, const char* from) {
  return {(int)load<T>(from), (int)load<T>(from + view.offset_y), (int)load<T>(from + view.offset_z),
          (int)load<T>(from + view.offset_w)};
}
TRINE_TEX int4 raw_words(const TextureView& view, const char* from) {
  switch (view.decode) {
    case kSrgb8:
    case kUnsigned8:
    case kUnsigned8Norm: return words_of<unsigned char>(view, from);
    case kSigned8:
    case kSigned8Norm: return words_of<signed char>(view, from);
    case kFloat16:
    case kUnsigned16:
    case kUnsigned16Norm: return words_of<unsigned short>(view, from);
    case kSigned16:
    case kSigned16Norm: return words_of<short>(view, from);
    default: return words_of<int>(view, from);
  }
}
TRINE_TEX int4 words(const TextureView& view, const char* from, bool inside) {
  const int4 t = raw_words(view, from);
  const int channels = view.channels;
  return {inside ? t.x : view.border_words[0],
          !inside        ? view.border_words[1]
          : channels > 1 ? t.y
                         : 0,
          !inside        ? view.border_words[2]
          : channels > 2 ? t.z
                         : 0,
          !inside        ? view.border_words[3]
          : channels > 3 ? t.w
                         : 0};
}
// Words are not blended: the texel is the first of each dimension.
TRINE_TEX int4 words(const TextureView& view, const Place& at) {
  return words(view, at.texels + (at.x.first + at.y.first + at.z.first),
               at.x.first_inside && at.y.first_inside && at.z.first_inside);
}

}  // namespace trine_texture
