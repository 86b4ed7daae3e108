// Two halves or four bytes of a word at once: __vadd2, __vcmpgtu4 and their like. Lanes of a word are taken apart and
// put together; the machine has no such instructions since Maxwell, and vectors are the lanes' here.
#pragma once

#include "host_defines.h"

// The value of element i, signed or not, and an int put back.
#define __TRINE_S2__(word, i) ((int)(short)((word) >> (16 * (i))))
#define __TRINE_U2__(word, i) ((int)(unsigned short)((word) >> (16 * (i))))
#define __TRINE_S4__(word, i) ((int)(signed char)((word) >> (8 * (i))))
#define __TRINE_U4__(word, i) ((int)(unsigned char)((word) >> (8 * (i))))
#define __TRINE_PUT2__(value, i) (((unsigned)(value) & 0xffffu) << (16 * (i)))
#define __TRINE_PUT4__(value, i) (((unsigned)(value) & 0xffu) << (8 * (i)))

__TRINE_DEVICE__ int __trine_clip(int value, int least, int most) {
  return value < least ? least : value > most ? most : value;
}

// `value` is made of x and y, the elements of a and b.
#define __TRINE_EACH__(name, count, get, value)                   \
  __TRINE_DEVICE__ unsigned name##count(unsigned a, unsigned b) { \
    unsigned result = 0;                                          \
    _Pragma("unroll") for (int i = 0; i < count; ++i) {           \
      const int x = get(a, i), y = get(b, i);                     \
      result |= __TRINE_PUT##count##__(value, i);                 \
    }                                                             \
    return result;                                                \
  }
#define __TRINE_ONE__(name, count, get, value)          \
  __TRINE_DEVICE__ unsigned name##count(unsigned a) {   \
    unsigned result = 0;                                \
    _Pragma("unroll") for (int i = 0; i < count; ++i) { \
      const int x = get(a, i);                          \
      result |= __TRINE_PUT##count##__(value, i);       \
    }                                                   \
    return result;                                      \
  }
#define __TRINE_SUM__(name, count, get)                           \
  __TRINE_DEVICE__ unsigned name##count(unsigned a, unsigned b) { \
    unsigned sum = 0;                                             \
    _Pragma("unroll") for (int i = 0; i < count; ++i) {           \
      const int x = get(a, i), y = get(b, i);                     \
      sum += (unsigned)(x > y ? x - y : y - x);                   \
    }                                                             \
    return sum;                                                   \
  }
// Comparisons: all bits, or 1.
#define __TRINE_COMPARE__(word, suffix, count, get, sign)             \
  __TRINE_EACH__(__vcmp##word##suffix, count, get, x sign y ? -1 : 0) \
  __TRINE_EACH__(__vset##word##suffix, count, get, x sign y ? 1 : 0)
#define __TRINE_ORDER__(word, count, sign)                      \
  __TRINE_COMPARE__(word, s, count, __TRINE_S##count##__, sign) \
  __TRINE_COMPARE__(word, u, count, __TRINE_U##count##__, sign)

#define __TRINE_ALL__(count, s, u, least, most, top)                           \
  __TRINE_EACH__(__vadd, count, u, x + y)                                      \
  __TRINE_EACH__(__vsub, count, u, x - y)                                      \
  __TRINE_EACH__(__vaddss, count, s, __trine_clip(x + y, least, most))         \
  __TRINE_EACH__(__vsubss, count, s, __trine_clip(x - y, least, most))         \
  __TRINE_EACH__(__vaddus, count, u, __trine_clip(x + y, 0, top))              \
  __TRINE_EACH__(__vsubus, count, u, __trine_clip(x - y, 0, top))              \
  /* halves of signed sums go away from zero */                                \
  __TRINE_EACH__(__vavgs, count, s, (x + y + (x + y >= 0)) >> 1)               \
  __TRINE_EACH__(__vavgu, count, u, (x + y + 1) >> 1)                          \
  __TRINE_EACH__(__vhaddu, count, u, (x + y) >> 1)                             \
  __TRINE_EACH__(__vabsdiffs, count, s, x > y ? x - y : y - x)                 \
  __TRINE_EACH__(__vabsdiffu, count, u, x > y ? x - y : y - x)                 \
  __TRINE_EACH__(__vmaxs, count, s, x > y ? x : y)                             \
  __TRINE_EACH__(__vmaxu, count, u, x > y ? x : y)                             \
  __TRINE_EACH__(__vmins, count, s, x < y ? x : y)                             \
  __TRINE_EACH__(__vminu, count, u, x < y ? x : y)                             \
  __TRINE_ONE__(__vabs, count, s, x < 0 ? -x : x)                              \
  __TRINE_ONE__(__vabsss, count, s, __trine_clip(x < 0 ? -x : x, least, most)) \
  __TRINE_ONE__(__vneg, count, s, -x)                                          \
  __TRINE_ONE__(__vnegss, count, s, __trine_clip(-x, least, most))             \
  __TRINE_SUM__(__vsads, count, s)                                             \
  __TRINE_SUM__(__vsadu, count, u)                                             \
  __TRINE_COMPARE__(eq, , count, u, ==)                                        \
  __TRINE_COMPARE__(ne, , count, u, !=)                                        \
  __TRINE_ORDER__(ge, count, >=)                                               \
  __TRINE_ORDER__(gt, count, >)                                                \
  __TRINE_ORDER__(le, count, <=)                                               \
  __TRINE_ORDER__(lt, count, <)
__TRINE_ALL__(2, __TRINE_S2__, __TRINE_U2__, -32768, 32767, 65535)
__TRINE_ALL__(4, __TRINE_S4__, __TRINE_U4__, -128, 127, 255)

#undef __TRINE_ALL__
#undef __TRINE_ORDER__
#undef __TRINE_COMPARE__
#undef __TRINE_SUM__
#undef __TRINE_ONE__
#undef __TRINE_EACH__
#undef __TRINE_PUT4__
#undef __TRINE_PUT2__
#undef __TRINE_U4__
#undef __TRINE_S4__
#undef __TRINE_U2__
#undef __TRINE_S2__

// The largest and least of three.
#define __TRINE_THREE__(type, suffix)                               \
  __TRINE_DEVICE__ type __vimax3_##suffix(type a, type b, type c) { \
    const type m = a > b ? a : b;                                   \
    return m > c ? m : c;                                           \
  }                                                                 \
  __TRINE_DEVICE__ type __vimin3_##suffix(type a, type b, type c) { \
    const type m = a < b ? a : b;                                   \
    return m < c ? m : c;                                           \
  }
__TRINE_THREE__(int, s32)
__TRINE_THREE__(unsigned, u32)
#undef __TRINE_THREE__
