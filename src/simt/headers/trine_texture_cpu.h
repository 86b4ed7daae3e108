// Texture and surface objects on the CPU: the functions behind texture_indirect_functions.h and
// surface_indirect_functions.h.
#pragma once

#include "trine_texture_lookup.h"

#define TRINE_TEX_FUNCTION __attribute__((device, always_inline))

// Three functions for each kind of read; words are the same bits whether signed or not.
#define TRINE_READS(function, parameters, dimensions, which, ...)                                                \
  TRINE_TEX_FUNCTION float4 function(float, cudaTextureObject_t texture, __TRINE_LIST__ parameters) noexcept {   \
    using namespace trine_texture;                                                                               \
    const TextureView& view = *(const TextureView*)texture;                                                      \
    return floats<dimensions>(view, which, __VA_ARGS__);                                                         \
  }                                                                                                              \
  TRINE_TEX_FUNCTION int4 function(int, cudaTextureObject_t texture, __TRINE_LIST__ parameters) noexcept {       \
    using namespace trine_texture;                                                                               \
    const TextureView& view = *(const TextureView*)texture;                                                      \
    return integers<dimensions>(view, which, __VA_ARGS__);                                                       \
  }                                                                                                              \
  TRINE_TEX_FUNCTION uint4 function(unsigned, cudaTextureObject_t texture, __TRINE_LIST__ parameters) noexcept { \
    using namespace trine_texture;                                                                               \
    const TextureView& view = *(const TextureView*)texture;                                                      \
    return __builtin_bit_cast(uint4, integers<dimensions>(view, which, __VA_ARGS__));                            \
  }
// Without a level, with one, and with steps of a pixel, whose lengths in texels, squared, are `step` of each.
#define TRINE_SAMPLES(function, place, steps, dimensions, step_x, step_y, ...)                                      \
  TRINE_READS(function, (__TRINE_LIST__ place), dimensions, fixed_levels(view), __VA_ARGS__)                        \
  TRINE_READS(function##_lod, (__TRINE_LIST__ place, float level), dimensions, levels_at(view, level), __VA_ARGS__) \
  TRINE_READS(function##_grad, (__TRINE_LIST__ place, __TRINE_LIST__ steps), dimensions,                            \
              levels_at(view, detail_of(step_x, step_y)), __VA_ARGS__)

TRINE_SAMPLES(__trine_tex_1d, (float x), (float dx, float dy), 1, square_in_texels<1>(view, dx, 0, 0),
              square_in_texels<1>(view, dy, 0, 0), Coordinates{x, 0, 0, 0})
TRINE_SAMPLES(__trine_tex_a1d, (int layer, float x), (float dx, float dy), 1, square_in_texels<1>(view, dx, 0, 0),
              square_in_texels<1>(view, dy, 0, 0), Coordinates{x, 0, 0, layer})
TRINE_SAMPLES(__trine_tex_2d, (float x, float y), (float2 dx, float2 dy), 2, square_in_texels<2>(view, dx.x, dx.y, 0),
              square_in_texels<2>(view, dy.x, dy.y, 0), Coordinates{x, y, 0, 0})
TRINE_SAMPLES(__trine_tex_a2d, (int layer, float x, float y), (float2 dx, float2 dy), 2,
              square_in_texels<2>(view, dx.x, dx.y, 0), square_in_texels<2>(view, dy.x, dy.y, 0),
              Coordinates{x, y, 0, layer})
TRINE_SAMPLES(__trine_tex_3d, (float x, float y, float z), (float4 dx, float4 dy), 3,
              square_in_texels<3>(view, dx.x, dx.y, dx.z), square_in_texels<3>(view, dy.x, dy.y, dy.z),
              Coordinates{x, y, z, 0})
TRINE_SAMPLES(__trine_tex_cube, (float x, float y, float z), (float4 dx, float4 dy), 2, step_on_cube(view, x, y, z, dx),
              step_on_cube(view, x, y, z, dy), on_cube(view, x, y, z, 0))
TRINE_SAMPLES(__trine_tex_acube, (int layer, float x, float y, float z), (float4 dx, float4 dy), 2,
              step_on_cube(view, x, y, z, dx), step_on_cube(view, x, y, z, dy), on_cube(view, x, y, z, layer))

TRINE_TEX_FUNCTION float4 __trine_tex_fetch(float, cudaTextureObject_t texture, int x) noexcept {
  return trine_texture::fetched_floats(*(const trine_texture::TextureView*)texture, x);
}
TRINE_TEX_FUNCTION int4 __trine_tex_fetch(int, cudaTextureObject_t texture, int x) noexcept {
  return trine_texture::fetched_words(*(const trine_texture::TextureView*)texture, x);
}
TRINE_TEX_FUNCTION uint4 __trine_tex_fetch(unsigned, cudaTextureObject_t texture, int x) noexcept {
  return __builtin_bit_cast(uint4, __trine_tex_fetch(int(), texture, x));
}

TRINE_TEX_FUNCTION float4 __trine_tex_gather(float, cudaTextureObject_t texture, float x, float y,
                                             int component) noexcept {
  using namespace trine_texture;
  const TextureView& view = *(const TextureView*)texture;
  return gathered<float4>(view, x, y, [&](const char* texels, int offset, bool inside) {
    const float4 t = float_texel(view, texels, offset, inside);
    return component == 1 ? t.y : component == 2 ? t.z : component == 3 ? t.w : t.x;
  });
}
TRINE_TEX_FUNCTION int4 __trine_tex_gather(int, cudaTextureObject_t texture, float x, float y, int component) noexcept {
  using namespace trine_texture;
  const TextureView& view = *(const TextureView*)texture;
  return gathered<int4>(view, x, y, [&](const char* texels, int offset, bool inside) {
    const int4 t = words(view, texels + offset, inside);
    return component == 1 ? t.y : component == 2 ? t.z : component == 3 ? t.w : t.x;
  });
}
TRINE_TEX_FUNCTION uint4 __trine_tex_gather(unsigned, cudaTextureObject_t texture, float x, float y,
                                            int component) noexcept {
  return __builtin_bit_cast(uint4, __trine_tex_gather(int(), texture, x, y, component));
}
