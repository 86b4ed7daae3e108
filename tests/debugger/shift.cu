// What docs/debugging.md looks at: each thread takes the weight of the next one's particle.
#include <cstdio>

struct Particle {
  float3 position;
  float mass;
};

__device__ float weight(const Particle& p, float gravity) {
  return p.mass * gravity;
}

__global__ void shift(float* out, const Particle* in, float gravity) {
  __shared__ float weights[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Particle p = in[i];
  weights[threadIdx.x] = weight(p, gravity);
  __syncthreads();
  out[i] = weights[(threadIdx.x + 1) % blockDim.x];
}

int main() {
  Particle* particles;
  float* out;
  cudaMallocManaged(&particles, 128 * sizeof(Particle));
  cudaMallocManaged(&out, 128 * sizeof(float));
  for (int i = 0; i < 128; ++i) particles[i] = {make_float3(i, 0, -i), 0.5f * i};
  shift<<<2, 64>>>(out, particles, 10);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%g %g\n", out[0], out[127]);
}
