// Reads and writes of surface objects. `x` counts bytes, as CUDA has it. What does the work is linked to kernels that
// need it: trine_texture_ptx.h, trine_texture_cpu.h.
#pragma once

#define __SURFACE_INDIRECT_FUNCTIONS_H__  // libraries ask for it

#include "surface_types.h"
#include "vector_functions.h"

enum __trine_surface_shape { __trine_s1d, __trine_s2d, __trine_s3d, __trine_sa1d, __trine_sa2d };

// `bytes` are 1, 2, 4, 8 or 16; layers of one dimension stand in `y`, those of two in `z`.
__attribute__((device)) ulonglong2 __trine_surf_read(cudaSurfaceObject_t surface, int shape, int x, int y, int z,
                                                     int bytes, int mode) noexcept;
__attribute__((device)) void __trine_surf_write(cudaSurfaceObject_t surface, int shape, int x, int y, int z, int bytes,
                                                int mode, ulonglong2 value) noexcept;

template <class T>
__TRINE_DEVICE__ T __trine_read_surface(cudaSurfaceObject_t surface, int shape, int x, int y, int z, int mode) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "surfaces hold elements of 1, 2, 4, 8 and 16 bytes");
  const ulonglong2 words = __trine_surf_read(surface, shape, x, y, z, sizeof(T), mode);
  T value;
  __builtin_memcpy(&value, &words, sizeof(T));
  return value;
}
template <class T>
__TRINE_DEVICE__ void __trine_write_surface(cudaSurfaceObject_t surface, int shape, int x, int y, int z, int mode,
                                            const T& value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "surfaces hold elements of 1, 2, 4, 8 and 16 bytes");
  ulonglong2 words = {0, 0};
  __builtin_memcpy(&words, &value, sizeof(T));
  __trine_surf_write(surface, shape, x, y, z, sizeof(T), mode, words);
}

#define __TRINE_SURFACE__(name, shape, y, z, ...)                                          \
  template <class T>                                                                       \
  __TRINE_DEVICE__ T name##read(cudaSurfaceObject_t surface, __VA_ARGS__,                  \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
    return __trine_read_surface<T>(surface, shape, x, y, z, mode);                         \
  }                                                                                        \
  template <class T>                                                                       \
  __TRINE_DEVICE__ void name##read(T* to, cudaSurfaceObject_t surface, __VA_ARGS__,        \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    *to = __trine_read_surface<T>(surface, shape, x, y, z, mode);                          \
  }                                                                                        \
  template <class T>                                                                       \
  __TRINE_DEVICE__ void name##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,     \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    __trine_write_surface(surface, shape, x, y, z, mode, value);                           \
  }
__TRINE_SURFACE__(surf1D, __trine_s1d, 0, 0, int x)
__TRINE_SURFACE__(surf2D, __trine_s2d, y, 0, int x, int y)
__TRINE_SURFACE__(surf3D, __trine_s3d, y, z, int x, int y, int z)
__TRINE_SURFACE__(surf1DLayered, __trine_sa1d, layer, 0, int x, int layer)
__TRINE_SURFACE__(surf2DLayered, __trine_sa2d, y, layer, int x, int y, int layer)
__TRINE_SURFACE__(surfCubemap, __trine_sa2d, y, face, int x, int y, int face)
__TRINE_SURFACE__(surfCubemapLayered, __trine_sa2d, y, layerFace, int x, int y, int layerFace)
#undef __TRINE_SURFACE__
