// The elementary functions in f32, defined once: every renderer instantiates these templates with its own builder (SIMD
// registers in the interpreter, LLVM values, CUDA text), so that all give the same bits. Every fma is written out; a
// machine without one computes mul then add.
//
// A builder has types F (f32), I (i32), M (mask) and: num inum add sub mul div fma rint to_int to_float bits from_bits
// iadd isub sra shl less equal select scale; scale(p, n) is p * 2^n for integral n in [-160, 160], rounded once.
//
// Largest errors, held by tests/unit/codegen/math_test.cc: exp 1.2 ulp, log 1 ulp, tanh 2 ulp, erf 4 ulp, and
// 1 / (1 + exp(-x)) 3 ulp; without fma at most twice that.
// Sources: Cody & Waite 1980 (reduction), Moshier's Cephes (log and tanh polynomials), own fits (exp, erf).
#pragma once

namespace trine::codegen::math {

template <class B, int N>
[[gnu::always_inline]] inline typename B::F polynomial(B& b, typename B::F x, const float (&coefficients)[N]) {
  typename B::F p = b.num(coefficients[0]);
  for (int i = 1; i < N; ++i) p = b.fma(p, x, b.num(coefficients[i]));
  return p;
}

// a < b ? a : b; with a constant first it keeps a NaN in x.
template <class B>
typename B::F lesser(B& b, typename B::F a, typename B::F x) {
  return b.select(b.less(a, x), a, x);
}
template <class B>
typename B::F greater(B& b, typename B::F a, typename B::F x) {
  return b.select(b.less(x, a), a, x);
}

// e^x = 2^n e^r, n = rint(x / ln 2), |r| <= ln2 / 2. Below -104 it is 0, above 89 infinity; denormals are right.
template <class B>
[[gnu::always_inline]] inline typename B::F exp(B& b, typename B::F x) {
  constexpr float kPolynomial[] = {1.3824426e-3f, 8.3701893e-3f, 4.1669480e-2f, 1.6666519e-1f, 4.9999991e-1f, 1.f, 1.f};
  x = lesser(b, b.num(89.f), x);
  x = greater(b, b.num(-105.f), x);
  auto n = b.rint(b.mul(x, b.num(1.44269504f)));
  auto r = b.fma(n, b.num(-0.693145752f), x);
  r = b.fma(n, b.num(-1.42860677e-6f), r);
  return b.scale(polynomial(b, r, kPolynomial), n);
}

// log x = e ln2 + log m, m in [sqrt(1/2), sqrt(2)).
template <class B>
[[gnu::always_inline]] inline typename B::F log(B& b, typename B::F x) {
  constexpr float kPolynomial[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                                   -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                                   2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  const auto tiny = b.less(x, b.num(1.17549435e-38f));
  auto y = b.select(tiny, b.mul(x, b.num(8388608.f)), x);
  auto e = b.sra(b.isub(b.bits(y), b.inum(0x3f3504f3)), 23);
  auto m = b.from_bits(b.isub(b.bits(y), b.shl(e, 23)));
  auto ef = b.add(b.to_float(e), b.select(tiny, b.num(-23.f), b.num(0.f)));
  auto f = b.sub(m, b.num(1.f));
  auto f2 = b.mul(f, f);
  auto p = b.mul(b.mul(f, f2), polynomial(b, f, kPolynomial));
  p = b.fma(ef, b.num(-2.12194440e-4f), p);
  p = b.fma(f2, b.num(-0.5f), p);
  auto result = b.fma(ef, b.num(0.693359375f), b.add(f, p));
  const auto infinity = b.num(__builtin_inff());
  result = b.select(b.less(x, infinity), result, x);  // inf and NaN stay
  result = b.select(b.less(x, b.num(0.f)), b.num(__builtin_nanf("")), result);
  return b.select(b.equal(x, b.num(0.f)), b.num(-__builtin_inff()), result);
}

// Odd polynomial near 0, else 1 - 2 / (e^2|x| + 1) with x's sign.
template <class B>
[[gnu::always_inline]] inline typename B::F tanh(B& b, typename B::F x) {
  constexpr float kPolynomial[] = {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                                   -3.33332819422e-1f};
  auto x2 = b.mul(x, x);
  auto near = b.fma(b.mul(x, x2), polynomial(b, x2, kPolynomial), x);
  auto magnitude = b.select(b.less(x, b.num(0.f)), b.sub(b.num(0.f), x), x);
  auto e = exp(b, b.add(magnitude, magnitude));
  auto far = b.sub(b.num(1.f), b.div(b.num(2.f), b.add(e, b.num(1.f))));
  far = b.select(b.less(x, b.num(0.f)), b.sub(b.num(0.f), far), far);
  return b.select(b.less(x2, b.num(0.390625f)), near, far);
}

// x P(u) with u = 2 x^2 / 3.93^2 - 1, a Chebyshev fit of erf(x) / x; from |x| = 3.93 on it rounds to 1.
template <class B>
[[gnu::always_inline]] inline typename B::F erf(B& b, typename B::F x) {
  constexpr float kPolynomial[] = {-0.0009440908453f, 0.002219073759f, -0.001210267102f, 0.001831784888f,
                                   -0.00815826769f,   0.01465562722f,  -0.02005435579f,  0.02989409484f,
                                   -0.04382619747f,   0.05866217771f,  -0.07410812604f,  0.09055091716f,
                                   -0.1090015213f,    0.1337821543f,   -0.1796602924f,   0.3598201997f};
  const auto top = b.num(3.93f), bottom = b.num(-3.93f);
  auto y = lesser(b, top, greater(b, bottom, x));
  auto u = b.fma(b.mul(y, y), b.num(0.129492583f), b.num(-1.f));
  auto result = b.mul(y, polynomial(b, u, kPolynomial));
  result = b.select(b.less(top, x), b.num(1.f), result);
  return b.select(b.less(x, bottom), b.num(-1.f), result);
}

}  // namespace trine::codegen::math
