// Operators for the algorithms of trine/, on both sides: values of one type, or of two that can be combined.
#pragma once

#include <host_defines.h>

#ifdef __CUDA__
#define __TRINE_OPERATOR__ __attribute__((always_inline, host, device))
#else
#define __TRINE_OPERATOR__ __attribute__((always_inline))
#endif

namespace trine {

struct Plus {
  template <class T>
  __TRINE_OPERATOR__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Minimum {  // the first of equals
  template <class T>
  __TRINE_OPERATOR__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct Maximum {  // the first of equals
  template <class T>
  __TRINE_OPERATOR__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Less {
  template <class T>
  __TRINE_OPERATOR__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
struct Equal {
  template <class T>
  __TRINE_OPERATOR__ bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};

}  // namespace trine
