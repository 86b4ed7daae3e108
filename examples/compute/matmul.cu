// C = A B of square matrices, row major: each block computes a tile of C from tiles of A and B in shared memory, each
// thread a column of kRows elements.
//
//   trine cc examples/compute/matmul.cu -o matmul && ./matmul [size]
#include <cmath>
#include <random>

#include "support.h"

constexpr int kTile = 32, kRows = 4;  // a block: kTile x kTile / kRows threads

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[kTile][kTile], tb[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y * kRows;
  const int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  float sum[kRows] = {};
  for (int k0 = 0; k0 < n; k0 += kTile) {
    for (int r = 0; r < kRows; ++r) {
      ta[y + r][x] = row + r < n && k0 + x < n ? a[size_t(row + r) * n + k0 + x] : 0;
      tb[y + r][x] = k0 + y + r < n && column < n ? b[size_t(k0 + y + r) * n + column] : 0;
    }
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      for (int r = 0; r < kRows; ++r) sum[r] += ta[y + r][k] * tb[k][x];
    __syncthreads();
  }
  for (int r = 0; r < kRows; ++r)
    if (row + r < n && column < n) c[size_t(row + r) * n + column] = sum[r];
}

int main(int argc, char** argv) {
  const int n = options_of(argc, argv, 1024, 99).size;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> a(size_t(n) * n), b(a.size());
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);

  DeviceArray<float> da(a), db(b), dc(a.size());
  const dim3 grid(blocks_for(n, kTile), blocks_for(n, kTile)), block(kTile, kTile / kRows);
  const float ms = milliseconds([&] { multiply<<<grid, block>>>(da.get(), db.get(), dc.get(), n); });
  CHECK(cudaGetLastError());
  const std::vector<float> c = dc.to_host();
  double worst = 0;  // of what rounding allows
  for (int i = 0; i < n; i += 13)
    for (int j = 0; j < n; j += 11) {
      double sum = 0, size = 0;
      for (int k = 0; k < n; ++k) {
        const double p = double{a[size_t(i) * n + k]} * b[size_t(k) * n + j];
        sum += p, size += std::fabs(p);
      }
      worst = std::fmax(worst, std::fabs(c[size_t(i) * n + j] - sum) / (n * 6e-8 * size));
    }
  std::printf("%d x %d: %.3f ms, %.1f GFLOP/s, largest error %.3f of its bound\n", n, n, ms,
              2.0 * n * n * n / ms * 1e-6, worst);
  return worst < 1 ? 0 : 1;
}
