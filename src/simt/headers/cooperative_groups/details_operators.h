// plus<T>, less<T> and the other operations of reductions and scans.
#pragma once

#include <host_defines.h>

namespace cooperative_groups {

#define __TRINE_OPERATOR__(name, expression)                       \
  template <class T = void>                                        \
  struct name {                                                    \
    __device__ T operator()(T a, T b) const { return expression; } \
  };                                                               \
  template <>                                                      \
  struct name<void> {                                              \
    template <class T>                                             \
    __device__ T operator()(T a, T b) const {                      \
      return expression;                                           \
    }                                                              \
  };
__TRINE_OPERATOR__(plus, a + b)
__TRINE_OPERATOR__(less, b < a ? b : a)     // the lesser
__TRINE_OPERATOR__(greater, a < b ? b : a)  // the greater
__TRINE_OPERATOR__(bit_and, a& b)
__TRINE_OPERATOR__(bit_or, a | b)
__TRINE_OPERATOR__(bit_xor, a ^ b)
#undef __TRINE_OPERATOR__

}  // namespace cooperative_groups
