// Gamma functions. Bounds in ulp: tgamma 6, lgamma 6 of double (lgamma of negative numbers: 6 of the larger of the
// result and 1); of float 1, calculated in double.
#pragma once

#include "math_log_double.h"
#include "math_trig_double.h"

namespace trine_math {

// Stirling: log gamma(x) of x >= 8 is (x - 1/2) (log x - 1) - 1/2 + log(2 pi) / 2 + S(1 / x^2) / x.
TRINE_MATH Pair<double> lgamma_large(double x) {
  const double z = 1.0 / x;
  const double s = z * poly(z * z, 0.08333333333333333, -0.002777777777773988, 0.0007936507897524059,
                            -0.0005952365845057049, 0.0008414700852503147, -0.001890382993887715, 0.005065905360156132);
  const Pair<double> l = add(log_parts(x, 0.0), -1.0);
  const Pair<double> p = mul(l, x - 0.5);
  const Pair<double> c = add(Pair<double>{0.41893853320467274, 1.2553483163541896e-17}, Pair<double>{s, 0.0});
  const Pair<double> y = add(p, c);
  return isfinite(y.hi) ? y : Pair<double>{infinity<double>(), 0.0};
}

// x of (0, 8) as y in [1, 2] and what steps of one cost: gamma(x) = product gamma(y), or for x < 1 gamma(y) / x.
struct Steps {
  double v;        // y - 3/2, exact
  double product;  // (x - 1) (x - 2) ..., down to y
  double factor;   // (y - 1) (y - 2), to the last place even near its zeros
};
TRINE_MATH Steps step_down(double x) {
  double y = x, product = 1.0;
  for (int i = 0; i < 6; ++i) {
    const bool more = y > 2.0;
    y = more ? y - 1.0 : y;
    product = more ? product * y : product;
  }
  const bool small = x < 1.0;
  return {small ? x - 0.5 : y - 1.5, product, small ? x * (x - 1.0) : (y - 1.0) * (y - 2.0)};
}
// log gamma(y) / ((y - 1) (y - 2)), and gamma(y).
TRINE_MATH double lgamma_middle(double v) {
  return poly(v, 0.4831289505409809, -0.14595989591430594, 0.06291140107456485, -0.03130848750105327,
              0.01679709863121395, -0.009425622444829649, 0.005446457842219553, -0.0032120742206072908,
              0.0019229162321227923, -0.001164411377219605, 0.0007115202752051298, -0.00043803516132580534,
              0.00027130273545114005, -0.0001685717945035172, 0.00010541715222185904, -6.793733027397047e-05,
              4.281642862794779e-05, -2.148770252062576e-05, 1.3584275459130943e-05, -1.8527803997032962e-05,
              1.1820969445467145e-05);
}
TRINE_MATH double gamma_middle(double v) {
  return poly(v, 0.886226925452758, 0.032338397448885, 0.4148134536882826, -0.10729480456475984, 0.1446453590475836,
              -0.07752305230182892, 0.058610303633145476, -0.03800193543217766, 0.02583761230507782,
              -0.017222447013020576, 0.011522407277990318, -0.007690139287816347, 0.005132883760616497,
              -0.003423629338262631, 0.002273514062024839, -0.0015159595901781905, 0.0010569633457018935,
              -0.0007046879722466143, 0.0003320885800907498, -0.00022139952612051456, 0.00037955491879486174,
              -0.00025303807808043895);
}

TRINE_MATH double lgamma_positive(double x) {
  const bool large = x >= 8.0;
  const Pair<double> far = lgamma_large(large ? x : 8.0);
  const Steps s = step_down(large ? 1.5 : x);
  const double y = s.factor * lgamma_middle(s.v), l = log(x < 1.0 ? x : s.product);
  return large ? far.hi + far.lo : x < 1.0 ? y - l : y + l;
}
// Below zero by pi / (x sin(pi x)).
TRINE_MATH double lgamma(double x) {
  const double a = fabs(x);
  const double positive = lgamma_positive(a == infinity<double>() ? 1.0 : a);
  const double s = fabs(sinpi(x));
  const double negative = 1.1447298858494002 - log(a * s) - positive;
  double y = x > 0.0 ? positive : negative;
  y = x < 0.0 && s == 0.0 ? infinity<double>() : y;
  y = a < 0x1p-70 ? -log(a) : y;
  return isnan(x) ? x : isinf(x) || x == 0.0 ? infinity<double>() : y;
}

TRINE_MATH double tgamma(double x) {
  const double a = fabs(x);
  const bool large = a >= 8.0;
  const double inside = a > 200.0 ? 200.0 : a;
  const Pair<double> far = lgamma_large(large ? inside : 8.0);
  const Scaled e = exp_parts(far.hi, far.lo);
  const Steps s = step_down(large ? 1.5 : a);
  const double near = gamma_middle(s.v);
  // gamma(a) = m 2^n / d; below zero it is pi / (a sin(pi x) gamma(a)).
  const double m = large ? e.hi : near * s.product, d = large || a >= 1.0 ? 1.0 : a;
  const i32 n = large ? e.n : 0;
  const double wave = sinpi(x);
  const double y = x > 0.0 ? scale(m / d, n) : scale(d / a * (3.141592653589793 / (wave * m)), -n);
  const bool none = isnan(x) || (x < 0.0 && (wave == 0.0 || isinf(x)));
  return x == 0.0 ? 1.0 / x : none ? quiet_nan<double>() : y;
}

// Those of float in double, where 2^-50 is enough: Stirling at z >= 8, where steps up led. gamma(a) = gamma(z) / p.
struct StepsUp {
  double z, p;
};
TRINE_MATH StepsUp step_up(double a) {
  const bool small = a < 8.0;
  const double low = small ? a : 1.0, b = low * (low + 7.0);  // a (a + 7) and (a + 1) (a + 6) differ by 6, ...
  const double p = b * (b + 6.0) * ((b + 10.0) * (b + 12.0));
  return {small ? a + 8.0 : a, small ? p : 1.0};
}
TRINE_MATH double short_log(double x) {
  const u64 bits = to_bits(x), exponent = (bits - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
  const double m = from_bits(bits - exponent), e = static_cast<i32>(static_cast<u32>(exponent >> 32)) >> 20;
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  const double tail =
      poly(z, 0.3333333333333333, 0.2, 0.14285714285713552, 0.11111111111306644, 0.09090909062851256,
           0.0769231010734737, 0.06666536447844708, 0.058867661130765844, 0.05172637825278434, 0.05769515386359338);
  const double half = fma(s * z, tail, s);
  return fma(e, 0.6931471805599453, half + half);
}
TRINE_MATH double short_lgamma(double z) {
  const double inverse = 1.0 / z, square = inverse * inverse;
  const double s = poly(square, 0.08333333333333333, -0.002777777777773988, 0.0007936507897524059,
                        -0.0005952365845057049, 0.0008414700852503147, -0.001890382993887715, 0.005065905360156132);
  return fma(z - 0.5, short_log(z) - 1.0, fma(s, inverse, 0.41893853320467274));
}

TRINE_MATH float lgamma(float x) {
  const double a = fabs(static_cast<double>(x));
  const bool plain = a > 0.0 && a < 1e39;
  const StepsUp up = step_up(plain ? a : 1.0);
  const double l = short_lgamma(up.z), wave = fabs(sinpi(static_cast<double>(x)));
  const bool below = x < 0.0f && wave > 0.0;
  const double rest = short_log(below ? up.p * 3.141592653589793 / (a * wave) : up.p);
  const double y = below ? rest - l : x < 0.0f ? infinity<double>() : l - rest;
  return isnan(x) ? x : plain ? static_cast<float>(y) : infinity<float>();
}
TRINE_MATH float tgamma(float x) {
  const double a = fabs(static_cast<double>(x)), inside = a < 60.0 ? a : 60.0;
  const StepsUp up = step_up(inside);
  const double g = exp(short_lgamma(up.z)), wave = sinpi(static_cast<double>(x));
  const double y = x > 0.0f ? g / up.p : 3.141592653589793 * up.p / (inside * wave * g);
  const bool none = isnan(x) || (x < 0.0f && (wave == 0.0 || isinf(x)));
  return x == 0.0f ? 1.0f / x : none ? quiet_nan<float>() : static_cast<float>(y);
}

}  // namespace trine_math
