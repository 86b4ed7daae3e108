// Turns come from a table, made once.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr int kSize = 1024, kHalf = kSize / 2;

struct Number {
  float re, im;
};

std::vector<Number> make_turns() {
  std::vector<Number> turns(kHalf);
  for (int k = 0; k < kHalf; ++k) {
    const std::complex<double> turn = std::polar(1.0, -M_PI * k / kHalf);
    turns[static_cast<size_t>(k)] = {static_cast<float>(turn.real()), static_cast<float>(turn.imag())};
  }
  return turns;
}

void stage(const Number* __restrict from, Number* __restrict to, int span, const Number* turns) {
  for (int first = 0; first < kHalf; first += span)
    for (int k = 0; k < span; ++k) {
      const Number turn = turns[k * (kHalf / span)], x = from[first + k], z = from[first + k + kHalf];
      const Number y = {z.re * turn.re - z.im * turn.im, z.re * turn.im + z.im * turn.re};
      to[2 * first + k] = {x.re + y.re, x.im + y.im};
      to[2 * first + k + span] = {x.re - y.re, x.im - y.im};
    }
}

}  // namespace

void fft(const Work& work) {
  static const std::vector<Number> turns = make_turns();
  const Number* in = work.array<Number>(0);
  Number* out = work.array<Number>(1);
  const int signals = work.number(0);
#pragma omp parallel for schedule(static)
  for (int s = 0; s < signals; ++s) {
    Number a[kSize], b[kSize];
    std::copy(in + s * kSize, in + (s + 1) * kSize, a);
    Number *from = a, *to = b;
    for (int span = 1; span < kSize; span *= 2, std::swap(from, to)) stage(from, to, span, turns.data());
    std::copy(from, from + kSize, out + s * kSize);
  }
}

}  // namespace trine::bench_compute
