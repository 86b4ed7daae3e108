// make_int2(...) and its like.
#pragma once

#include "vector_types.h"

#define __TRINE_MAKE__(name, type)                                                          \
  __TRINE_HD__ name##1 make_##name##1(type x) { return name##1 {x}; }                       \
  __TRINE_HD__ name##2 make_##name##2(type x, type y) { return name##2 {x, y}; }            \
  __TRINE_HD__ name##3 make_##name##3(type x, type y, type z) { return name##3 {x, y, z}; } \
  __TRINE_HD__ name##4 make_##name##4(type x, type y, type z, type w) { return name##4 {x, y, z, w}; }
__TRINE_MAKE__(char, signed char)
__TRINE_MAKE__(uchar, unsigned char)
__TRINE_MAKE__(short, short)
__TRINE_MAKE__(ushort, unsigned short)
__TRINE_MAKE__(int, int)
__TRINE_MAKE__(uint, unsigned int)
__TRINE_MAKE__(long, long)
__TRINE_MAKE__(ulong, unsigned long)
__TRINE_MAKE__(longlong, long long)
__TRINE_MAKE__(ulonglong, unsigned long long)
__TRINE_MAKE__(float, float)
__TRINE_MAKE__(double, double)
#undef __TRINE_MAKE__
