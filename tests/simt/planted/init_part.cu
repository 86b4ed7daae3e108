// All but the last element of an array is filled, of bytes, of words and of vectors.
// want: init 8
// want: init 9
// want: init 10
#include <cstdio>

__global__ void k(const unsigned char* bytes, const float* words, const float4* vectors, float* out) {
  float sum = bytes[threadIdx.x];
  sum += words[threadIdx.x];
  sum += vectors[threadIdx.x].w;
  out[threadIdx.x] = sum;
}

int main() {
  unsigned char* bytes;
  float *words, *out;
  float4* vectors;
  cudaMalloc(&bytes, 64);
  cudaMalloc(&words, 64 * sizeof(float));
  cudaMalloc(&vectors, 64 * sizeof(float4));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemset(bytes, 0xA9, 63);
  cudaMemset(words, 0, 63 * sizeof(float));
  cudaMemset(vectors, 0, 64 * sizeof(float4) - sizeof(float));
  k<<<1, 64>>>(bytes, words, vectors, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(bytes);
  cudaFree(words);
  cudaFree(vectors);
  cudaFree(out);
  return error != cudaSuccess;
}
