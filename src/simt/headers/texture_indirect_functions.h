// Reads of texture objects. What reads is not here: PTX has instructions (trine_texture_ptx.h), the CPU has code
// (trine_texture_cpu.h), and either is linked to kernels that need it.
#pragma once

#define __TEXTURE_INDIRECT_FUNCTIONS_H__  // libraries ask for it

#include "texture_types.h"
#include "vector_functions.h"

#define __TRINE_LIST__(...) __VA_ARGS__

// Four channels as floats, signed or unsigned words: the first parameter says which.
#define __TRINE_TEX__(function, parameters)                                                                        \
  __attribute__((device)) float4 function(float, cudaTextureObject_t texture, __TRINE_LIST__ parameters) noexcept; \
  __attribute__((device)) int4 function(int, cudaTextureObject_t texture, __TRINE_LIST__ parameters) noexcept;     \
  __attribute__((device)) uint4 function(unsigned, cudaTextureObject_t texture, __TRINE_LIST__ parameters) noexcept;
#include "trine_texture_list.h"
#undef __TRINE_TEX__

// How a type is made of four channels.
template <class T>
struct __trine_texel;
#define __TRINE_TEXEL__(T, word, four, ...)                                                                    \
  template <>                                                                                                  \
  struct __trine_texel<T> {                                                                                    \
    typedef word kind;                                                                                         \
    typedef T made;                                                                                            \
    static __inline__ __attribute__((always_inline, device)) T of(const four& v) { return made{__VA_ARGS__}; } \
  };
#define __TRINE_TEXELS__(name, type, word, four)             \
  __TRINE_TEXEL__(type, word, four, (type)v.x)               \
  __TRINE_TEXEL__(name##1, word, four, (type)v.x)            \
  __TRINE_TEXEL__(name##2, word, four, (type)v.x, (type)v.y) \
  __TRINE_TEXEL__(name##4, word, four, (type)v.x, (type)v.y, (type)v.z, (type)v.w)
__TRINE_TEXELS__(char, signed char, int, int4)
__TRINE_TEXELS__(uchar, unsigned char, unsigned, uint4)
__TRINE_TEXELS__(short, short, int, int4)
__TRINE_TEXELS__(ushort, unsigned short, unsigned, uint4)
__TRINE_TEXELS__(int, int, int, int4)
__TRINE_TEXELS__(uint, unsigned, unsigned, uint4)
__TRINE_TEXELS__(float, float, float, float4)
__TRINE_TEXEL__(char, int, int4, (char)v.x)
#undef __TRINE_TEXELS__
#undef __TRINE_TEXEL__

#define __TRINE_READ__(name, function, parameters, arguments)                                                    \
  template <class T>                                                                                             \
  __TRINE_DEVICE__ T name(cudaTextureObject_t texture, __TRINE_LIST__ parameters) {                              \
    return __trine_texel<T>::of(function(typename __trine_texel<T>::kind(), texture, __TRINE_LIST__ arguments)); \
  }                                                                                                              \
  template <class T>                                                                                             \
  __TRINE_DEVICE__ void name(T* to, cudaTextureObject_t texture, __TRINE_LIST__ parameters) {                    \
    *to = __trine_texel<T>::of(function(typename __trine_texel<T>::kind(), texture, __TRINE_LIST__ arguments));  \
  }
// There are no sparse arrays: every texel is there.
#define __TRINE_READ_SPARSE__(name, function, parameters, arguments)                                             \
  __TRINE_READ__(name, function, parameters, arguments)                                                          \
  template <class T>                                                                                             \
  __TRINE_DEVICE__ T name(cudaTextureObject_t texture, __TRINE_LIST__ parameters, bool* resident) {              \
    *resident = true;                                                                                            \
    return __trine_texel<T>::of(function(typename __trine_texel<T>::kind(), texture, __TRINE_LIST__ arguments)); \
  }                                                                                                              \
  template <class T>                                                                                             \
  __TRINE_DEVICE__ void name(T* to, cudaTextureObject_t texture, __TRINE_LIST__ parameters, bool* resident) {    \
    *resident = true;                                                                                            \
    *to = __trine_texel<T>::of(function(typename __trine_texel<T>::kind(), texture, __TRINE_LIST__ arguments));  \
  }

__TRINE_READ__(tex1Dfetch, __trine_tex_fetch, (int x), (x))
__TRINE_READ__(tex1D, __trine_tex_1d, (float x), (x))
__TRINE_READ__(tex1DLod, __trine_tex_1d_lod, (float x, float level), (x, level))
__TRINE_READ__(tex1DGrad, __trine_tex_1d_grad, (float x, float dx, float dy), (x, dx, dy))
__TRINE_READ__(tex1DLayered, __trine_tex_a1d, (float x, int layer), (layer, x))
__TRINE_READ__(tex1DLayeredLod, __trine_tex_a1d_lod, (float x, int layer, float level), (layer, x, level))
__TRINE_READ__(tex1DLayeredGrad, __trine_tex_a1d_grad, (float x, int layer, float dx, float dy), (layer, x, dx, dy))
__TRINE_READ_SPARSE__(tex2D, __trine_tex_2d, (float x, float y), (x, y))
__TRINE_READ_SPARSE__(tex2DLod, __trine_tex_2d_lod, (float x, float y, float level), (x, y, level))
__TRINE_READ_SPARSE__(tex2DGrad, __trine_tex_2d_grad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
__TRINE_READ_SPARSE__(tex2DLayered, __trine_tex_a2d, (float x, float y, int layer), (layer, x, y))
__TRINE_READ_SPARSE__(tex2DLayeredLod, __trine_tex_a2d_lod, (float x, float y, int layer, float level),
                      (layer, x, y, level))
__TRINE_READ_SPARSE__(tex2DLayeredGrad, __trine_tex_a2d_grad, (float x, float y, int layer, float2 dx, float2 dy),
                      (layer, x, y, dx, dy))
__TRINE_READ_SPARSE__(tex3D, __trine_tex_3d, (float x, float y, float z), (x, y, z))
__TRINE_READ_SPARSE__(tex3DLod, __trine_tex_3d_lod, (float x, float y, float z, float level), (x, y, z, level))
__TRINE_READ_SPARSE__(tex3DGrad, __trine_tex_3d_grad, (float x, float y, float z, float4 dx, float4 dy),
                      (x, y, z, dx, dy))
__TRINE_READ__(texCubemap, __trine_tex_cube, (float x, float y, float z), (x, y, z))
__TRINE_READ__(texCubemapLod, __trine_tex_cube_lod, (float x, float y, float z, float level), (x, y, z, level))
__TRINE_READ__(texCubemapGrad, __trine_tex_cube_grad, (float x, float y, float z, float4 dx, float4 dy),
               (x, y, z, dx, dy))
__TRINE_READ__(texCubemapLayered, __trine_tex_acube, (float x, float y, float z, int layer), (layer, x, y, z))
__TRINE_READ__(texCubemapLayeredLod, __trine_tex_acube_lod, (float x, float y, float z, int layer, float level),
               (layer, x, y, z, level))
__TRINE_READ__(texCubemapLayeredGrad, __trine_tex_acube_grad,
               (float x, float y, float z, int layer, float4 dx, float4 dy), (layer, x, y, z, dx, dy))
__TRINE_READ_SPARSE__(tex2Dgather, __trine_tex_gather, (float x, float y, int component), (x, y, component))
template <class T>
__TRINE_DEVICE__ T tex2Dgather(cudaTextureObject_t texture, float x, float y) {
  return tex2Dgather<T>(texture, x, y, 0);
}
template <class T>
__TRINE_DEVICE__ void tex2Dgather(T* to, cudaTextureObject_t texture, float x, float y) {
  *to = tex2Dgather<T>(texture, x, y, 0);
}
#undef __TRINE_READ__
#undef __TRINE_READ_SPARSE__
