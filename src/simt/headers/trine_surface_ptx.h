// Surface objects on GPUs: an instruction for each shape, size and boundary mode, of which constant arguments leave
// one.
#pragma once

#define TRINE_SURF_INPUTS [s] "l"(surface), [x] "r"(x), [y] "r"(y), [z] "r"(z)
#define TRINE_SURF_MODES(one, ...)                                   \
  if (mode == cudaBoundaryModeZero) one("zero", __VA_ARGS__);        \
  else if (mode == cudaBoundaryModeClamp) one("clamp", __VA_ARGS__); \
  else one("trap", __VA_ARGS__)

#define TRINE_SURF_LOAD(mode_name, geometry, place, type, registers, ...)                     \
  asm volatile("suld.b." geometry "." type "." mode_name " " registers ", [%[s], " place "];" \
               : __VA_ARGS__                                                                  \
               : TRINE_SURF_INPUTS                                                            \
               : "memory")
#define TRINE_SURF_STORE(mode_name, geometry, place, type, registers, ...)                    \
  asm volatile("sust.b." geometry "." type "." mode_name " [%[s], " place "], " registers ";" \
               :                                                                              \
               : TRINE_SURF_INPUTS, __VA_ARGS__                                               \
               : "memory")

#define TRINE_SURF_SHAPE(name, geometry, place)                                                                    \
  __attribute__((device, always_inline)) ulonglong2 trine_read_##name(cudaSurfaceObject_t surface, int x, int y,   \
                                                                      int z, int bytes, int mode) noexcept {       \
    ulonglong2 v = {0, 0};                                                                                         \
    unsigned short half = 0;                                                                                       \
    unsigned word = 0;                                                                                             \
    if (bytes == 16) {                                                                                             \
      TRINE_SURF_MODES(TRINE_SURF_LOAD, geometry, place, "v2.b64", "{%[a], %[b]}", [a] "=l"(v.x), [b] "=l"(v.y));  \
    } else if (bytes == 8) {                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_LOAD, geometry, place, "b64", "{%[a]}", [a] "=l"(v.x));                          \
    } else if (bytes == 4) {                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_LOAD, geometry, place, "b32", "{%[a]}", [a] "=r"(word));                         \
      v.x = word;                                                                                                  \
    } else if (bytes == 2) {                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_LOAD, geometry, place, "b16", "{%[a]}", [a] "=h"(half));                         \
      v.x = half;                                                                                                  \
    } else {                                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_LOAD, geometry, place, "b8", "{%[a]}", [a] "=h"(half));                          \
      v.x = half;                                                                                                  \
    }                                                                                                              \
    return v;                                                                                                      \
  }                                                                                                                \
  __attribute__((device, always_inline)) void trine_write_##name(cudaSurfaceObject_t surface, int x, int y, int z, \
                                                                 int bytes, int mode, ulonglong2 v) noexcept {     \
    const unsigned short half = (unsigned short)v.x;                                                               \
    const unsigned word = (unsigned)v.x;                                                                           \
    if (bytes == 16) {                                                                                             \
      TRINE_SURF_MODES(TRINE_SURF_STORE, geometry, place, "v2.b64", "{%[a], %[b]}", [a] "l"(v.x), [b] "l"(v.y));   \
    } else if (bytes == 8) {                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_STORE, geometry, place, "b64", "{%[a]}", [a] "l"(v.x));                          \
    } else if (bytes == 4) {                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_STORE, geometry, place, "b32", "{%[a]}", [a] "r"(word));                         \
    } else if (bytes == 2) {                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_STORE, geometry, place, "b16", "{%[a]}", [a] "h"(half));                         \
    } else {                                                                                                       \
      TRINE_SURF_MODES(TRINE_SURF_STORE, geometry, place, "b8", "{%[a]}", [a] "h"(half));                          \
    }                                                                                                              \
  }
TRINE_SURF_SHAPE(1d, "1d", "{%[x]}")
TRINE_SURF_SHAPE(2d, "2d", "{%[x], %[y]}")
TRINE_SURF_SHAPE(3d, "3d", "{%[x], %[y], %[z], %[z]}")
TRINE_SURF_SHAPE(a1d, "a1d", "{%[y], %[x]}")
TRINE_SURF_SHAPE(a2d, "a2d", "{%[z], %[x], %[y], %[y]}")

__attribute__((device, always_inline)) ulonglong2 __trine_surf_read(cudaSurfaceObject_t surface, int shape, int x,
                                                                    int y, int z, int bytes, int mode) noexcept {
  switch (shape) {
    case __trine_s1d: return trine_read_1d(surface, x, y, z, bytes, mode);
    case __trine_s2d: return trine_read_2d(surface, x, y, z, bytes, mode);
    case __trine_s3d: return trine_read_3d(surface, x, y, z, bytes, mode);
    case __trine_sa1d: return trine_read_a1d(surface, x, y, z, bytes, mode);
    default: return trine_read_a2d(surface, x, y, z, bytes, mode);
  }
}
__attribute__((device, always_inline)) void __trine_surf_write(cudaSurfaceObject_t surface, int shape, int x, int y,
                                                               int z, int bytes, int mode, ulonglong2 value) noexcept {
  switch (shape) {
    case __trine_s1d: return trine_write_1d(surface, x, y, z, bytes, mode, value);
    case __trine_s2d: return trine_write_2d(surface, x, y, z, bytes, mode, value);
    case __trine_s3d: return trine_write_3d(surface, x, y, z, bytes, mode, value);
    case __trine_sa1d: return trine_write_a1d(surface, x, y, z, bytes, mode, value);
    default: return trine_write_a2d(surface, x, y, z, bytes, mode, value);
  }
}
