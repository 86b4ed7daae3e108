// The functions of the device math library with the error each may make: one row each. The tests hold the library to
// the rows, and docs/device-math.md is written from them.
#pragma once

#include <span>

namespace device_math {

// Bounds are in units of the last place of the result, over all arguments unless `where` says less.
struct FloatRow {
  const char* name;
  double bound;
  float (*run)(float);
  double (*reference)(double);  // the C library's function of double: good to 2^-28 ulp of float
  const char* where = "";
  float low = -__builtin_inff(), high = __builtin_inff();  // tried from low to high
  double floor = 0;  // the unit is that of the result, or of this where the result is less
};
struct FloatPairRow {
  const char* name;
  double bound;
  float (*run)(float, float);
  double (*reference)(double, double);
  const char* where = "";
};

struct DoubleRow {
  const char* name;
  double bound;
  double (*run)(double);
  long double (*reference)(double);  // MPFR's to 64 bits
  const char* where = "";
  double low = -__builtin_inf(), high = __builtin_inf();
  double floor = 0;
};
struct DoublePairRow {
  const char* name;
  double bound;
  double (*run)(double, double);
  long double (*reference)(double, double);
  const char* where = "";
};

std::span<const DoubleRow> double_rows();
std::span<const DoublePairRow> double_pair_rows();
std::span<const FloatRow> float_rows();
std::span<const FloatPairRow> float_pair_rows();

}  // namespace device_math
