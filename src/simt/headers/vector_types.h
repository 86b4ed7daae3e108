// dim3 and the vectors of two, three and four, with the alignments that host code gives them.
#pragma once

#define __VECTOR_TYPES_H__  // libraries ask for it

#include "host_defines.h"

// Ones to fours of a type; twos and fours are aligned as the last two arguments say.
#define __TRINE_VECTORS__(name, type, two, four) \
  struct name##1 { type x; };                    \
  struct __align__(two) name##2 { type x, y; };  \
  struct name##3 { type x, y, z; };              \
  struct __align__(four) name##4 { type x, y, z, w; };
__TRINE_VECTORS__(char, signed char, 2, 4)
__TRINE_VECTORS__(uchar, unsigned char, 2, 4)
__TRINE_VECTORS__(short, short, 4, 8)
__TRINE_VECTORS__(ushort, unsigned short, 4, 8)
__TRINE_VECTORS__(int, int, 8, 16)
__TRINE_VECTORS__(uint, unsigned int, 8, 16)
__TRINE_VECTORS__(long, long, 16, 16)
__TRINE_VECTORS__(ulong, unsigned long, 16, 16)
__TRINE_VECTORS__(longlong, long long, 16, 16)
__TRINE_VECTORS__(ulonglong, unsigned long long, 16, 16)
__TRINE_VECTORS__(float, float, 8, 16)
__TRINE_VECTORS__(double, double, 16, 16)
#undef __TRINE_VECTORS__

// Fours of 8 bytes whose names say their alignment.
#define __TRINE_ALIGNED__(name, type)                    \
  struct __align__(16) name##4_16a { type x, y, z, w; }; \
  struct __align__(32) name##4_32a { type x, y, z, w; };
__TRINE_ALIGNED__(long, long)
__TRINE_ALIGNED__(ulong, unsigned long)
__TRINE_ALIGNED__(longlong, long long)
__TRINE_ALIGNED__(ulonglong, unsigned long long)
__TRINE_ALIGNED__(double, double)
#undef __TRINE_ALIGNED__

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
