// Atomic operations on global and shared memory. All are relaxed, as CUDA's are: fences order.
// Scopes: a volatile access marks what other devices and the host must see (_system); the rest is within the device,
// and _block may be no wider than that.
#pragma once

#include "host_defines.h"

#define __TRINE_FETCH__(name, operation, type, suffix, cast)                                                       \
  __TRINE_DEVICE__ type name##suffix(type* address, type value) {                                                  \
    return __scoped_atomic_fetch_##operation((cast type*)address, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
  }
#define __TRINE_EXCHANGE__(type, bits, suffix, cast)                                                  \
  __TRINE_DEVICE__ type atomicExch##suffix(type* address, type value) {                               \
    const bits old = __scoped_atomic_exchange_n((cast bits*)address, __builtin_bit_cast(bits, value), \
                                                __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);             \
    return __builtin_bit_cast(type, old);                                                             \
  }
#define __TRINE_COMPARE__(type, suffix, cast)                                                         \
  __TRINE_DEVICE__ type atomicCAS##suffix(type* address, type compare, type value) {                  \
    __scoped_atomic_compare_exchange_n((cast type*)address, &compare, value, false, __ATOMIC_RELAXED, \
                                       __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);                      \
    return compare;                                                                                   \
  }
// Subtraction of what wraps is addition of the negative.
#define __TRINE_SUBTRACT__(type, suffix, cast) __TRINE_FETCH__(atomicSub, sub, type, suffix, cast)

#define __TRINE_INTEGERS__(type, suffix, cast)        \
  __TRINE_FETCH__(atomicMin, min, type, suffix, cast) \
  __TRINE_FETCH__(atomicMax, max, type, suffix, cast) \
  __TRINE_FETCH__(atomicAnd, and, type, suffix, cast) \
  __TRINE_FETCH__(atomicOr, or, type, suffix, cast)   \
  __TRINE_FETCH__(atomicXor, xor, type, suffix, cast)

#define __TRINE_SCOPE__(suffix, cast)                                      \
  __TRINE_FETCH__(atomicAdd, add, int, suffix, cast)                       \
  __TRINE_FETCH__(atomicAdd, add, unsigned int, suffix, cast)              \
  __TRINE_FETCH__(atomicAdd, add, unsigned long long, suffix, cast)        \
  __TRINE_FETCH__(atomicAdd, add, float, suffix, cast)                     \
  __TRINE_FETCH__(atomicAdd, add, double, suffix, cast)                    \
  __TRINE_SUBTRACT__(int, suffix, cast)                                    \
  __TRINE_SUBTRACT__(unsigned int, suffix, cast)                           \
  __TRINE_INTEGERS__(int, suffix, cast)                                    \
  __TRINE_INTEGERS__(unsigned int, suffix, cast)                           \
  __TRINE_INTEGERS__(long long, suffix, cast)                              \
  __TRINE_INTEGERS__(unsigned long long, suffix, cast)                     \
  __TRINE_EXCHANGE__(int, int, suffix, cast)                               \
  __TRINE_EXCHANGE__(unsigned int, unsigned int, suffix, cast)             \
  __TRINE_EXCHANGE__(unsigned long long, unsigned long long, suffix, cast) \
  __TRINE_EXCHANGE__(float, unsigned int, suffix, cast)                    \
  __TRINE_COMPARE__(int, suffix, cast)                                     \
  __TRINE_COMPARE__(unsigned int, suffix, cast)                            \
  __TRINE_COMPARE__(unsigned long long, suffix, cast)                      \
  __TRINE_COMPARE__(unsigned short, suffix, cast)                          \
  __TRINE_FETCH__(atomicInc, uinc, unsigned int, suffix, cast)             \
  __TRINE_FETCH__(atomicDec, udec, unsigned int, suffix, cast)

__TRINE_SCOPE__(, )
__TRINE_SCOPE__(_block, )
__TRINE_SCOPE__(_system, volatile)

#undef __TRINE_SCOPE__
#undef __TRINE_INTEGERS__
#undef __TRINE_SUBTRACT__
#undef __TRINE_COMPARE__
#undef __TRINE_EXCHANGE__
#undef __TRINE_FETCH__
