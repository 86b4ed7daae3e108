// The two types of one 16-bit format, for cuda_fp16.h and cuda_bf16.h, which include this once each with
//   __TRINE_N__   the type                 __TRINE_N2__  two of it
//   __TRINE_S__   its word in functions    __TRINE_S2__  that of two
//   __TRINE_RAW__, __TRINE_RAW2__          their bits
// and __TRINE_BITS_OF__(float), rounded to nearest, and __TRINE_VALUE_OF__(bits). No #pragma once.

struct __align__(2) __TRINE_RAW__ {
  unsigned short x;
};
struct __align__(4) __TRINE_RAW2__ {
  unsigned short x, y;
};

struct __align__(2) __TRINE_N__ {
 protected:
  unsigned short __x;

 public:
  __TRINE_N__() = default;
  __TRINE_HD_MEMBER__ constexpr __TRINE_N__(const __TRINE_RAW__& raw) : __x(raw.x) {}
  __TRINE_HD_MEMBER__ __TRINE_N__(float v) : __x(__TRINE_BITS_OF__(v)) {}
  __TRINE_HD_MEMBER__ __TRINE_N__(double v) : __x(__TRINE_BITS_OF__(trine_math::odd_float(v))) {}
#define __TRINE_FROM__(type) \
  __TRINE_HD_MEMBER__ __TRINE_N__(type v) : __x(__TRINE_BITS_OF__(trine_math::odd_integer(v))) {}
  __TRINE_FROM__(short)
  __TRINE_FROM__(unsigned short)
  __TRINE_FROM__(int)
  __TRINE_FROM__(unsigned int)
  __TRINE_FROM__(long)
  __TRINE_FROM__(unsigned long)
  __TRINE_FROM__(long long)
  __TRINE_FROM__(unsigned long long)
#undef __TRINE_FROM__
  __TRINE_HD_MEMBER__ operator float() const { return __TRINE_VALUE_OF__(__x); }
  __TRINE_HD_MEMBER__ constexpr operator __TRINE_RAW__() const { return __TRINE_RAW__{__x}; }
  __TRINE_HD_MEMBER__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
};

struct __align__(4) __TRINE_N2__ {
  __TRINE_N__ x, y;
  __TRINE_N2__() = default;
  __TRINE_HD_MEMBER__ constexpr __TRINE_N2__(const __TRINE_N__& a, const __TRINE_N__& b) : x(a), y(b) {}
  __TRINE_HD_MEMBER__ constexpr __TRINE_N2__(const __TRINE_RAW2__& raw)
      : x(__TRINE_RAW__{raw.x}), y(__TRINE_RAW__{raw.y}) {}
  __TRINE_HD_MEMBER__ operator __TRINE_RAW2__() const {
    return __TRINE_RAW2__{static_cast<__TRINE_RAW__>(x).x, static_cast<__TRINE_RAW__>(y).x};
  }
};
