#include "ops/fft.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace trine {
namespace {

using Complex = std::complex<double>;

// exp(sign * 2 pi i * k / n)
Complex root(uint64_t k, uint64_t n, double sign) {
  return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

// Length a power of two; no scaling.
void radix2(std::vector<Complex>& x, double sign) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t length = 2; length <= n; length *= 2) {
    std::vector<Complex> twiddle(length / 2);
    for (size_t k = 0; k < twiddle.size(); ++k) twiddle[k] = root(k, length, sign);
    for (size_t i = 0; i < n; i += length)
      for (size_t k = 0; k < length / 2; ++k) {
        const Complex a = x[i + k], b = x[i + k + length / 2] * twiddle[k];
        x[i + k] = a + b;
        x[i + k + length / 2] = a - b;
      }
  }
}

// k n = (k^2 + n^2 - (k-n)^2) / 2 turns the transform into a convolution of a power-of-two length.
void bluestein(std::vector<Complex>& x, double sign) {
  const size_t n = x.size(), m = std::bit_ceil(2 * n - 1);
  std::vector<Complex> chirp(n), a(m), b(m);
  for (size_t k = 0; k < n; ++k) {
    chirp[k] = root(static_cast<uint64_t>(k) * k, 2 * n, sign);
    a[k] = x[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k > 0) b[m - k] = b[k];
  }
  radix2(a, -1);
  radix2(b, -1);
  for (size_t i = 0; i < m; ++i) a[i] *= b[i];
  radix2(a, 1);
  for (size_t k = 0; k < n; ++k) x[k] = a[k] / static_cast<double>(m) * chirp[k];
}

}  // namespace

std::vector<Complex> fft(std::vector<Complex> x, bool inverse) {
  if (x.empty()) return x;
  const double sign = inverse ? 1 : -1;
  if (std::has_single_bit(x.size())) radix2(x, sign);
  else bluestein(x, sign);
  if (inverse)
    for (Complex& v : x) v /= static_cast<double>(x.size());
  return x;
}

}  // namespace trine
