// From coordinates of each kind of texture to a place in its texels: dimensions, layers, faces of cubes, levels.
#pragma once

#include "trine_texture_sample.h"

namespace trine_texture {

// Which levels, and how much of the second.
struct Levels {
  int first;
  float fraction;
};

TRINE_TEX Levels fixed_levels(const TextureView& view) { return {view.first_level, view.first_fraction}; }

// A level of detail, in steps of 1 / 256: a level, or two and the fraction between them.
TRINE_TEX Levels levels_at(const TextureView& view, float detail) {
  const float asked = detail == detail ? (float)(int)(limited(detail, -64, 64) * 256) * (1.0f / 256) : 0;
  const float last = (float)(view.levels - 1);
  const float level = limited(limited(asked + view.bias, view.lowest, view.highest), 0, last);
  if (!view.mip_linear) return {(int)(level + 0.5f), 0};
  const int fixed = (int)(level * 256);
  return {fixed >> 8, (float)(fixed & 255) * (1.0f / 256)};
}

struct Coordinates {
  float x, y, z;
  int layer;
};

// Layers outside are the last one, below 0 too.
TRINE_TEX int layer_in(int layer, int layers) { return layer < 0 || layer >= layers ? layers - 1 : layer; }
TRINE_TEX Axis layer_at(int layer, int layers, int stride) {
  return {layer_in(layer, layers) * stride, 0, true, true, 0};
}

template <int kDimensions>
TRINE_TEX Place place_in(const TextureView& view, const Level& level, const Coordinates& c) {
  Place at;
  at.texels = level.texels;
  at.x = along(view, c.x, level.width, 0, view.texel_bytes);
  at.y = kDimensions > 1 ? along(view, c.y, level.height, 1, level.row_bytes) : nowhere();
  at.z = kDimensions > 2 ? along(view, c.z, level.depth, 2, level.slice_bytes)
                         : layer_at(c.layer, view.layers, level.slice_bytes);
  return at;
}

TRINE_TEX const Level& level_of(const TextureView& view, int level) {
  return view.level[level < view.levels ? level : view.levels - 1];
}

// One level, or two that are blended; the loop keeps the code for both in one place.
template <int kDimensions>
TRINE_TEX float4 floats(const TextureView& view, const Levels& levels, const Coordinates& c) {
  float4 sum = {0, 0, 0, 0};
#pragma clang loop unroll(disable)
  for (int k = 0; k <= view.mip_linear; ++k) {
    const float4 value = weighed<kDimensions>(view, place_in<kDimensions>(view, level_of(view, levels.first + k), c));
    sum = k == 0 ? value : blended(sum, value, levels.fraction);
  }
  return sum;
}
template <int kDimensions>
TRINE_TEX int4 integers(const TextureView& view, const Levels& levels, const Coordinates& c) {
  return words(view, place_in<kDimensions>(view, level_of(view, levels.first), c));
}

// Linear memory by index: nothing is outside but zeros.
TRINE_TEX float4 fetched_floats(const TextureView& view, int x) {
  const bool inside = x >= 0 && x < view.level[0].width;
  const Axis axis = {inside ? x * view.texel_bytes : 0, 0, true, true, 0};
  Place at = {view.level[0].texels, axis, nowhere(), nowhere()};
  const float4 t = weighed<0>(view, at);
  return {inside ? t.x : 0, inside ? t.y : 0, inside ? t.z : 0, inside ? t.w : 0};
}
TRINE_TEX int4 fetched_words(const TextureView& view, int x) {
  const bool inside = x >= 0 && x < view.level[0].width;
  const int4 t = words(view, view.level[0].texels + (inside ? x * view.texel_bytes : 0), true);
  return {inside ? t.x : 0, inside ? t.y : 0, inside ? t.z : 0, inside ? t.w : 0};
}

// The level at which steps of a pixel, `dx` and `dy` in texels of the first level, are one texel long.
TRINE_TEX float detail_of(float dx2, float dy2) { return 0.5f * __builtin_log2f(__builtin_fmaxf(dx2, dy2)); }
TRINE_TEX float scaled(const TextureView& view, float d, int size) { return view.normalized ? d * (float)size : d; }
TRINE_TEX float squared(float x, float y, float z) { return x * x + y * y + z * z; }
template <int kDimensions>
TRINE_TEX float square_in_texels(const TextureView& view, float x, float y, float z) {
  const Level& level = view.level[0];
  return squared(scaled(view, x, level.width), kDimensions > 1 ? scaled(view, y, level.height) : 0,
                 kDimensions > 2 ? scaled(view, z, level.depth) : 0);
}

// A direction to a face and coordinates in it from 0 to 1, after the Programming Guide, "Cubemap Textures".
TRINE_TEX Coordinates on_cube(const TextureView& view, float x, float y, float z, int layer) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  const bool on_z = az >= ax && az >= ay, on_y = !on_z && ay >= ax;
  const float major = on_z ? z : on_y ? y : x;
  const bool negative = major < 0;
  const float s = on_z ? (negative ? -x : x) : on_y ? x : (negative ? z : -z);
  const float t = on_y ? (negative ? -z : z) : -y;
  const float m = major == 0 ? 1 : __builtin_fabsf(major);
  const int face = (on_z ? 4 : on_y ? 2 : 0) + (negative ? 1 : 0);
  return {(s / m + 1) * 0.5f, (t / m + 1) * 0.5f, 0, layer_in(layer, view.layers / 6) * 6 + face};
}
// Steps of a direction, in texels of its face: of s / m, with the derivative of a quotient.
TRINE_TEX float step_on_cube(const TextureView& view, float x, float y, float z, const float4& d) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  const bool on_z = az >= ax && az >= ay, on_y = !on_z && ay >= ax;
  const float m = on_z ? z : on_y ? y : x, dm = on_z ? d.z : on_y ? d.y : d.x;
  const float s = on_z || on_y ? x : z, ds = on_z || on_y ? d.x : d.z;
  const float t = on_y ? z : y, dt = on_y ? d.z : d.y;
  const float half = 0.5f * (float)view.level[0].width / (m * m);
  return squared((ds * m - s * dm) * half, (dt * m - t * dm) * half, 0);
}

// One texel as floats.
TRINE_TEX float4 float_texel(const TextureView& view, const char* texels, int offset, bool inside) {
  const Axis axis = {offset, offset, inside, inside, 0};
  return weighed<0>(view, Place{texels, axis, nowhere(), nowhere()});
}

// The four texels that a linear filter would weigh, one channel of each, in the order of PTX's tld4.
template <class Four, class Channel>
TRINE_TEX Four gathered(const TextureView& view, float x, float y, const Channel& channel) {
  const Level& level = view.level[0];
  const int ax = view.address[0], ay = view.address[1];
  const Axis h = neighbours(in_texels(x, level.width, ax, view.normalized), level.width, ax, 1, view.texel_bytes);
  const Axis v = neighbours(in_texels(y, level.height, ay, view.normalized), level.height, ay, 1, level.row_bytes);
  return {channel(level.texels, h.first + v.second, h.first_inside && v.second_inside),
          channel(level.texels, h.second + v.second, h.second_inside && v.second_inside),
          channel(level.texels, h.second + v.first, h.second_inside && v.first_inside),
          channel(level.texels, h.first + v.first, h.first_inside && v.first_inside)};
}

}  // namespace trine_texture
