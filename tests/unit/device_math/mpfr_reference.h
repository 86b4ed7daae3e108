// MPFR's functions, rounded to 64 bits: what doubles are held to.
#pragma once

#include <mpfr.h>

namespace device_math {

// A number of MPFR that frees itself.
class Big {
 public:
  explicit Big(long double x = 0, mpfr_prec_t bits = 64) {
    mpfr_init2(value_, bits);
    mpfr_set_ld(value_, x, MPFR_RNDN);
  }
  Big(const Big&) = delete;
  ~Big() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }
  long double get() const { return mpfr_get_ld(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
long double big(double x) {
  Big y(x);
  kFunction(y, y, MPFR_RNDN);
  return y.get();
}
template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
long double big(double x, double y) {
  Big a(x), b(y);
  kFunction(a, a, b, MPFR_RNDN);
  return a.get();
}

}  // namespace device_math
