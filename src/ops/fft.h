// Fourier transform of any length in O(n log n), in f64: radix 2, and Bluestein's algorithm for other lengths.
//   y[k] = sum_n x[n] exp(-2 pi i k n / N);  inverse: + in the exponent, divided by N
#pragma once

#include <complex>
#include <vector>

namespace trine {

std::vector<std::complex<double>> fft(std::vector<std::complex<double>> x, bool inverse = false);

}  // namespace trine
