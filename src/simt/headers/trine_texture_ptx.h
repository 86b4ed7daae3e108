// Texture and surface objects on GPUs: one instruction for each function of texture_indirect_functions.h and
// surface_indirect_functions.h.
#pragma once

#define TRINE_TEX_ONE(result, type, word, constraint, function, parameters, before, after, ...) \
  __attribute__((device, always_inline)) result function(word, cudaTextureObject_t texture,     \
                                                         __TRINE_LIST__ parameters) noexcept {  \
    result r;                                                                                   \
    asm(before ".v4." type after                                                                \
        : "=" constraint(r.x), "=" constraint(r.y), "=" constraint(r.z), "=" constraint(r.w)    \
        : "l"(texture), __VA_ARGS__);                                                           \
    return r;                                                                                   \
  }
#define TRINE_TEX_TYPES(coordinate, function, parameters, before, place, ...)     \
  TRINE_TEX_ONE(float4, "f32", float, "f", function, parameters, before,          \
                "." coordinate " {%0, %1, %2, %3}, [%4, " place ";", __VA_ARGS__) \
  TRINE_TEX_ONE(int4, "s32", int, "r", function, parameters, before,              \
                "." coordinate " {%0, %1, %2, %3}, [%4, " place ";", __VA_ARGS__) \
  TRINE_TEX_ONE(uint4, "u32", unsigned, "r", function, parameters, before,        \
                "." coordinate " {%0, %1, %2, %3}, [%4, " place ";", __VA_ARGS__)
#define TRINE_TEX(...) TRINE_TEX_TYPES("f32", __VA_ARGS__)

TRINE_TEX_TYPES("s32", __trine_tex_fetch, (int x), "tex.1d", "{%5}]", "r"(x))
TRINE_TEX(__trine_tex_1d, (float x), "tex.1d", "{%5}]", "f"(x))
TRINE_TEX(__trine_tex_1d_lod, (float x, float level), "tex.level.1d", "{%5}], %6", "f"(x), "f"(level))
TRINE_TEX(__trine_tex_1d_grad, (float x, float dx, float dy), "tex.grad.1d", "{%5}], {%6}, {%7}", "f"(x), "f"(dx),
          "f"(dy))
TRINE_TEX(__trine_tex_a1d, (int layer, float x), "tex.a1d", "{%5, %6}]", "r"(layer), "f"(x))
TRINE_TEX(__trine_tex_a1d_lod, (int layer, float x, float level), "tex.level.a1d", "{%5, %6}], %7", "r"(layer), "f"(x),
          "f"(level))
TRINE_TEX(__trine_tex_a1d_grad, (int layer, float x, float dx, float dy), "tex.grad.a1d", "{%5, %6}], {%7}, {%8}",
          "r"(layer), "f"(x), "f"(dx), "f"(dy))
TRINE_TEX(__trine_tex_2d, (float x, float y), "tex.2d", "{%5, %6}]", "f"(x), "f"(y))
TRINE_TEX(__trine_tex_2d_lod, (float x, float y, float level), "tex.level.2d", "{%5, %6}], %7", "f"(x), "f"(y),
          "f"(level))
TRINE_TEX(__trine_tex_2d_grad, (float x, float y, float2 dx, float2 dy), "tex.grad.2d",
          "{%5, %6}], {%7, %8}, {%9, %10}", "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y))
TRINE_TEX(__trine_tex_a2d, (int layer, float x, float y), "tex.a2d", "{%5, %6, %7, %7}]", "r"(layer), "f"(x), "f"(y))
TRINE_TEX(__trine_tex_a2d_lod, (int layer, float x, float y, float level), "tex.level.a2d", "{%5, %6, %7, %7}], %8",
          "r"(layer), "f"(x), "f"(y), "f"(level))
TRINE_TEX(__trine_tex_a2d_grad, (int layer, float x, float y, float2 dx, float2 dy), "tex.grad.a2d",
          "{%5, %6, %7, %7}], {%8, %9}, {%10, %11}", "r"(layer), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x),
          "f"(dy.y))
TRINE_TEX(__trine_tex_3d, (float x, float y, float z), "tex.3d", "{%5, %6, %7, %7}]", "f"(x), "f"(y), "f"(z))
TRINE_TEX(__trine_tex_3d_lod, (float x, float y, float z, float level), "tex.level.3d", "{%5, %6, %7, %7}], %8", "f"(x),
          "f"(y), "f"(z), "f"(level))
TRINE_TEX(__trine_tex_3d_grad, (float x, float y, float z, float4 dx, float4 dy), "tex.grad.3d",
          "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y),
          "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z))
TRINE_TEX(__trine_tex_cube, (float x, float y, float z), "tex.cube", "{%5, %6, %7, %7}]", "f"(x), "f"(y), "f"(z))
TRINE_TEX(__trine_tex_cube_lod, (float x, float y, float z, float level), "tex.level.cube", "{%5, %6, %7, %7}], %8",
          "f"(x), "f"(y), "f"(z), "f"(level))
TRINE_TEX(__trine_tex_cube_grad, (float x, float y, float z, float4 dx, float4 dy), "tex.grad.cube",
          "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y),
          "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z))
TRINE_TEX(__trine_tex_acube, (int layer, float x, float y, float z), "tex.acube", "{%5, %6, %7, %8}]", "r"(layer),
          "f"(x), "f"(y), "f"(z))
TRINE_TEX(__trine_tex_acube_lod, (int layer, float x, float y, float z, float level), "tex.level.acube",
          "{%5, %6, %7, %8}], %9", "r"(layer), "f"(x), "f"(y), "f"(z), "f"(level))
TRINE_TEX(__trine_tex_acube_grad, (int layer, float x, float y, float z, float4 dx, float4 dy), "tex.grad.acube",
          "{%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14}", "r"(layer), "f"(x), "f"(y), "f"(z), "f"(dx.x),
          "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z))
TRINE_TEX(trine_gather_x, (float x, float y), "tld4.r.2d", "{%5, %6}]", "f"(x), "f"(y))
TRINE_TEX(trine_gather_y, (float x, float y), "tld4.g.2d", "{%5, %6}]", "f"(x), "f"(y))
TRINE_TEX(trine_gather_z, (float x, float y), "tld4.b.2d", "{%5, %6}]", "f"(x), "f"(y))
TRINE_TEX(trine_gather_w, (float x, float y), "tld4.a.2d", "{%5, %6}]", "f"(x), "f"(y))

#define TRINE_GATHER(result, word)                                                                                  \
  __attribute__((device, always_inline)) result __trine_tex_gather(word kind, cudaTextureObject_t texture, float x, \
                                                                   float y, int component) noexcept {               \
    switch (component) {                                                                                            \
      case 1: return trine_gather_y(kind, texture, x, y);                                                           \
      case 2: return trine_gather_z(kind, texture, x, y);                                                           \
      case 3: return trine_gather_w(kind, texture, x, y);                                                           \
      default: return trine_gather_x(kind, texture, x, y);                                                          \
    }                                                                                                               \
  }
TRINE_GATHER(float4, float)
TRINE_GATHER(int4, int)
TRINE_GATHER(uint4, unsigned)
