// Integer intrinsics: bits, high halves of products, averages, permutations of bytes.
#pragma once

#include "host_defines.h"

__TRINE_DEVICE__ int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__TRINE_DEVICE__ int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
__TRINE_DEVICE__ int __ffs(int x) { return __builtin_ffs(x); }
__TRINE_DEVICE__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__TRINE_DEVICE__ int __popc(unsigned x) { return __builtin_popcount(x); }
__TRINE_DEVICE__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__TRINE_DEVICE__ unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__TRINE_DEVICE__ unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// The position of the n-th bit set in `mask`, from bit `base` on: upwards for n > 0, downwards for n < 0; for n = 0
// the bit itself. 0xffffffff when there is none.
__TRINE_DEVICE__ unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return (mask >> (base & 31)) & 1 ? base : 0xffffffffu;
  const int step = n > 0 ? 1 : -1;
  int wanted = n > 0 ? n : -n;
  for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit) & 1)
      if (--wanted == 0) return (unsigned)bit;
  return 0xffffffffu;
}

// Four of the eight bytes of y:x, chosen by three bits each.
__TRINE_DEVICE__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors) {
  const unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned byte = selectors >> (4 * i) & 7;
    result |= ((unsigned)(both >> (8 * byte)) & 0xff) << (8 * i);
  }
  return result;
}

__TRINE_DEVICE__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __builtin_elementwise_fshl(high, low, shift);
}
__TRINE_DEVICE__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return __builtin_elementwise_fshr(high, low, shift);
}
__TRINE_DEVICE__ unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
__TRINE_DEVICE__ unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

__TRINE_DEVICE__ int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
__TRINE_DEVICE__ unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }
__TRINE_DEVICE__ long long __mul64hi(long long x, long long y) { return (long long)(((__int128)x * y) >> 64); }
__TRINE_DEVICE__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
__TRINE_DEVICE__ int __mul24(int x, int y) { return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8)); }
__TRINE_DEVICE__ unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }

__TRINE_DEVICE__ int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__TRINE_DEVICE__ int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__TRINE_DEVICE__ unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
__TRINE_DEVICE__ unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }
__TRINE_DEVICE__ unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
__TRINE_DEVICE__ unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }

// Sums of products of bytes and of halves.
#define __TRINE_BYTE__(word, i, type) ((int)(type)((word) >> (8 * (i))))
#define __TRINE_DOT__(name, result, a_word, a_byte, b_word, b_byte)                                             \
  __TRINE_DEVICE__ result name(a_word a, b_word b, result c) {                                                  \
    unsigned sum = (unsigned)c;                                                                                 \
    for (int i = 0; i < 4; ++i) sum += (unsigned)(__TRINE_BYTE__(a, i, a_byte) * __TRINE_BYTE__(b, i, b_byte)); \
    return (result)sum;                                                                                         \
  }
__TRINE_DOT__(__dp4a, int, int, signed char, int, signed char)
__TRINE_DOT__(__dp4a, unsigned, unsigned, unsigned char, unsigned, unsigned char)
#undef __TRINE_DOT__
#undef __TRINE_BYTE__
__TRINE_DEVICE__ int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__TRINE_DEVICE__ unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
__TRINE_DEVICE__ int __dp2a_lo(int a, int b, int c) {
  return c + (short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8);
}
__TRINE_DEVICE__ int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
__TRINE_DEVICE__ unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * ((b >> 8) & 0xff);
}
__TRINE_DEVICE__ unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
__TRINE_DEVICE__ int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
__TRINE_DEVICE__ int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
__TRINE_DEVICE__ unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y; }
__TRINE_DEVICE__ unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return c + a.x * b.z + a.y * b.w; }

// Of two signs, as C++ compares them: without.
#define __TRINE_ENDS__(type)                                                                   \
  __TRINE_HD__ type min(type a, type b) { return b < a ? b : a; }                              \
  __TRINE_HD__ unsigned type min(unsigned type a, unsigned type b) { return b < a ? b : a; }   \
  __TRINE_HD__ unsigned type min(type a, unsigned type b) { return min((unsigned type)a, b); } \
  __TRINE_HD__ unsigned type min(unsigned type a, type b) { return min(a, (unsigned type)b); } \
  __TRINE_HD__ type max(type a, type b) { return a < b ? b : a; }                              \
  __TRINE_HD__ unsigned type max(unsigned type a, unsigned type b) { return a < b ? b : a; }   \
  __TRINE_HD__ unsigned type max(type a, unsigned type b) { return max((unsigned type)a, b); } \
  __TRINE_HD__ unsigned type max(unsigned type a, type b) { return max(a, (unsigned type)b); }
__TRINE_ENDS__(int)
__TRINE_ENDS__(long)
__TRINE_ENDS__(long long)
#undef __TRINE_ENDS__
