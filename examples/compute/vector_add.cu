// c = a + b, a thread for each element.
//
//   trine cc examples/compute/vector_add.cu -o vector_add && ./vector_add [elements]
#include <random>

#include "support.h"

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const size_t n = options_of(argc, argv, (1 << 24) + 7, 100'007).size;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(n), b(n);
  for (float& x : a) x = uniform(random);
  for (float& x : b) x = uniform(random);

  DeviceArray<float> da(a), db(b), dc(n);
  const float ms = milliseconds([&] { add<<<blocks_for(n, 256), 256>>>(da.get(), db.get(), dc.get(), n); });
  CHECK(cudaGetLastError());
  const std::vector<float> c = dc.to_host();
  size_t wrong = 0;
  for (size_t i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  std::printf("%zu elements: %.3f ms, %.1f GB/s, %zu wrong\n", n, ms, 12.0 * n / ms * 1e-6, wrong);
  return wrong == 0 ? 0 : 1;
}
