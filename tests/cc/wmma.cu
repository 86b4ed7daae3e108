// C = alpha A B + beta C by the tensor cores' interface: a warp makes a tile of 16 by 16, as well-known samples do it,
// of half with sums in float; the same in bf16 through shared memory, in tf32, in double and in bytes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace nvcuda;

#define CHECK(call)                                         \
  do {                                                      \
    const cudaError_t error = (call);                       \
    if (error != cudaSuccess) {                             \
      printf("%s: %s\n", #call, cudaGetErrorString(error)); \
      return false;                                         \
    }                                                       \
  } while (0)

const int kM = 16, kN = 16, kK = 16;

// A is row-major, B column-major; blocks of 4 by 2 warps.
__global__ void simple_wmma_gemm(const half* a, const half* b, const float* c, float* d, int m, int n, int k,
                                 float alpha, float beta) {
  const int warp_m = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, warp_n = blockIdx.y * blockDim.y + threadIdx.y;
  wmma::fragment<wmma::matrix_a, kM, kN, kK, half, wmma::row_major> a_frag;
  wmma::fragment<wmma::matrix_b, kM, kN, kK, half, wmma::col_major> b_frag;
  wmma::fragment<wmma::accumulator, kM, kN, kK, float> sum, c_frag;
  wmma::fill_fragment(sum, 0.0f);
  const int row = warp_m * kM, column = warp_n * kN;
  if (row >= m || column >= n) return;
  for (int i = 0; i < k; i += kK) {
    wmma::load_matrix_sync(a_frag, a + row * k + i, k);
    wmma::load_matrix_sync(b_frag, b + column * k + i, k);
    wmma::mma_sync(sum, a_frag, b_frag, sum);
  }
  wmma::load_matrix_sync(c_frag, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < c_frag.num_elements; i++) c_frag.x[i] = alpha * sum.x[i] + beta * c_frag.x[i];
  wmma::store_matrix_sync(d + row * n + column, c_frag, n, wmma::mem_row_major);
}

// One warp a block, any shape and type; tiles come through shared memory.
template <int M, int N, int K, class T, class Stored, class Sum>
__global__ void gemm(const Stored* a, const Stored* b, Sum* c, int n, int k) {
  __shared__ __align__(32) Stored a_tile[M * K], b_tile[K * N];
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> a_frag;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> b_frag;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, Sum(0));
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  for (int i = 0; i < k; i += K) {
    for (int e = threadIdx.x; e < M * K; e += 32) a_tile[e] = a[(row + e / K) * k + i + e % K];
    for (int e = threadIdx.x; e < K * N; e += 32) b_tile[e] = b[(i + e / N) * n + column + e % N];
    __syncthreads();
    wmma::load_matrix_sync(a_frag, a_tile, K);
    wmma::load_matrix_sync(b_frag, b_tile, N);
    if constexpr (sizeof(Stored) == 4)
      for (int e = 0; e < a_frag.num_elements; ++e) a_frag.x[e] = wmma::__float_to_tf32(a_frag.x[e]);
    wmma::mma_sync(sum, a_frag, b_frag, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* to = nullptr;
  if (cudaMalloc(&to, values.size() * sizeof(T)) != cudaSuccess) return nullptr;
  cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}
template <class T>
std::vector<T> small_numbers(int count, unsigned seed, int least) {
  std::vector<T> values(count);
  for (T& v : values) v = T(float(int((seed = seed * 1664525u + 1013904223u) >> 29) + least));
  return values;
}

bool sample() {
  const int m = 128, n = 96, k = 80;
  const auto a = small_numbers<half>(m * k, 1, -4), b = small_numbers<half>(k * n, 2, -4);
  const auto c = small_numbers<float>(m * n, 3, -4);
  std::vector<float> d(m * n, -1);
  float* out = on_device(d);
  const dim3 block(128, 4), grid((m + kM * 4 - 1) / (kM * 4), (n + kN * 4 - 1) / (kN * 4));
  simple_wmma_gemm<<<grid, block>>>(on_device(a), on_device(b), on_device(c), out, m, n, k, 1.5f, 2.0f);
  CHECK(cudaMemcpy(d.data(), out, d.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += float(a[i * k + l]) * float(b[j * k + l]);
      const float expected = 1.5f * sum + 2 * c[i * n + j];
      if (d[i * n + j] != expected) return printf("(%d,%d): %g, not %g\n", i, j, d[i * n + j], expected), false;
    }
  return true;
}

template <int M, int N, int K, class T, class Stored, class Sum>
bool check(const char* what, int least) {
  const int m = 2 * M, n = 3 * N, k = 2 * K;
  const auto a = small_numbers<Stored>(m * k, 4, least), b = small_numbers<Stored>(k * n, 5, least);
  std::vector<Sum> c(m * n, Sum(-1));
  Sum* out = on_device(c);
  gemm<M, N, K, T, Stored, Sum><<<dim3(n / N, m / M), 32>>>(on_device(a), on_device(b), out, n, k);
  CHECK(cudaMemcpy(c.data(), out, c.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += float(a[i * k + l]) * float(b[l * n + j]);
      if (float(c[i * n + j]) != sum)
        return printf("%s (%d,%d): %g, not %g\n", what, i, j, float(c[i * n + j]), sum), false;
    }
  return true;
}

int main() {
  const bool right = sample() && check<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16", -4) &&
                     check<32, 8, 16, half, half, half>("half", -4) &&
                     check<8, 32, 16, unsigned char, unsigned char, int>("u8", 0) &&
                     check<16, 16, 16, signed char, signed char, int>("s8", -4) &&
                     check<16, 16, 8, wmma::precision::tf32, float, float>("tf32", -4) &&
                     check<8, 8, 4, double, double, double>("f64", -4);
  if (right) printf("passed\n");
  return right ? 0 : 1;
}
