// Division of numbers below 2^31 by one that is known at the launch; base/divider.h makes the numbers.
#pragma once

namespace trine {

struct Divider {
  unsigned divisor, magic, shift;
};

#ifdef __CUDA__
__device__ inline unsigned divided(unsigned n, Divider d) { return (__umulhi(n, d.magic) + n) >> d.shift; }
#endif

}  // namespace trine
