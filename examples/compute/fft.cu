// Fourier transforms of many signals of 1024 complex numbers: a block for each, radix 2 in shared memory
// (Stockham's order, so that nothing is reversed).
//
//   trine cc examples/compute/fft.cu -o fft && ./fft [signals]
#include <cmath>
#include <complex>
#include <random>

#include "support.h"

constexpr int kSize = 1024, kThreads = kSize / 2;

__device__ float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ float2 times(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

__global__ void transform(const float2* in, float2* out) {
  __shared__ float2 a[kSize], b[kSize], turns[kThreads];
  const int i = threadIdx.x;
  sincospif(-static_cast<float>(i) / kThreads, &turns[i].y, &turns[i].x);
  const float2* signal = in + size_t{blockIdx.x} * kSize;
  a[i] = signal[i], a[i + kThreads] = signal[i + kThreads];
  __syncthreads();
  float2 *from = a, *to = b;
  for (int span = 1; span < kSize; span *= 2) {
    // Butterfly i: two values half a signal apart, turned by the place within the span.
    const int k = i & (span - 1);
    const float2 x = from[i], y = times(from[i + kThreads], turns[k * (kThreads / span)]);
    const int at = ((i - k) << 1) + k;
    to[at] = x + y, to[at + span] = x - y;
    __syncthreads();
    float2* other = from;
    from = to, to = other;
  }
  float2* result = out + size_t{blockIdx.x} * kSize;
  result[i] = from[i], result[i + kThreads] = from[i + kThreads];
}

int main(int argc, char** argv) {
  const unsigned signals = options_of(argc, argv, 2048, 8).size;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float2> x(size_t{signals} * kSize);
  for (float2& v : x) v = {normal(random), normal(random)};
  DeviceArray<float2> in(x), out(x.size());
  const float ms = milliseconds([&] { transform<<<signals, kThreads>>>(in.get(), out.get()); });
  CHECK(cudaGetLastError());
  const std::vector<float2> y = out.to_host();
  double worst = 0;
  for (size_t s = 0; s < signals; s += 1 + signals / 5)
    for (int k = 0; k < kSize; k += 37) {
      std::complex<double> sum = 0;
      for (int n = 0; n < kSize; ++n) {
        const float2 v = x[s * kSize + n];
        sum += std::complex<double>(v.x, v.y) * std::polar(1.0, -2 * M_PI * (int64_t{n} * k % kSize) / kSize);
      }
      const float2 got = y[s * kSize + k];
      worst = std::fmax(worst, std::abs(sum - std::complex<double>(got.x, got.y)) / std::sqrt(kSize));
    }
  std::printf("%u signals of %d: %.3f ms, %.1f GFLOP/s (5 n log2 n), largest error %.1e\n", signals, kSize, ms,
              5.0 * kSize * 10 * signals / ms * 1e-6, worst);
  return worst < 1e-5 ? 0 : 1;
}
