// Gravity among N bodies, every pair: a_i = sum_j m_j r_ij / (|r_ij|^2 + eps^2)^(3/2), leapfrog steps.
// A block keeps a tile of bodies in shared memory, which each of its threads reads whole.
//
//   trine cc examples/compute/nbody.cu -o nbody && ./nbody [bodies]
#include <cmath>
#include <random>

#include "support.h"

constexpr int kBlock = 256;
constexpr float kSoftening = 1e-2f;

__device__ float3 add_pull(float3 a, float4 body, float4 other) {
  const float x = other.x - body.x, y = other.y - body.y, z = other.z - body.z;
  const float distance2 = x * x + y * y + z * z + kSoftening * kSoftening;
  const float inverse = rsqrtf(distance2);
  const float pull = other.w * inverse * inverse * inverse;
  return {a.x + pull * x, a.y + pull * y, a.z + pull * z};
}

__global__ void step(const float4* from, float4* to, float4* velocity, int n, float dt) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 body = i < n ? from[i] : float4{0, 0, 0, 0};
  float3 a = {0, 0, 0};
  for (int first = 0; first < n; first += kBlock) {
    const int j = first + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = j < n ? from[j] : float4{0, 0, 0, 0};
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kBlock; ++k) a = add_pull(a, body, tile[k]);
    __syncthreads();
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += a.x * dt, v.y += a.y * dt, v.z += a.z * dt;
  velocity[i] = v;
  to[i] = {body.x + v.x * dt, body.y + v.y * dt, body.z + v.z * dt, body.w};
}

// The same step of body i in double.
static double3 position_after(const std::vector<float4>& bodies, const std::vector<float4>& velocity, size_t i,
                              double dt) {
  double ax = 0, ay = 0, az = 0;
  for (const float4& o : bodies) {
    const double x = o.x - bodies[i].x, y = o.y - bodies[i].y, z = o.z - bodies[i].z;
    const double d2 = x * x + y * y + z * z + double{kSoftening} * kSoftening;
    const double pull = o.w / (d2 * std::sqrt(d2));
    ax += pull * x, ay += pull * y, az += pull * z;
  }
  const auto moved = [&](float p, float v, double a) { return p + (v + a * dt) * dt; };
  return {moved(bodies[i].x, velocity[i].x, ax), moved(bodies[i].y, velocity[i].y, ay),
          moved(bodies[i].z, velocity[i].z, az)};
}

int main(int argc, char** argv) {
  const int n = options_of(argc, argv, 8192, 500).size, steps = 10;
  const float dt = 1e-3f;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float4> bodies(n), velocity(n);
  for (float4& b : bodies) b = {normal(random), normal(random), normal(random), 1.0f / n};
  for (float4& v : velocity) v = {normal(random), normal(random), normal(random), 0};

  DeviceArray<float4> a(bodies), b(static_cast<size_t>(n)), v(velocity);
  step<<<blocks_for(n, kBlock), kBlock>>>(a.get(), b.get(), v.get(), n, dt);
  CHECK(cudaGetLastError());
  const std::vector<float4> moved = b.to_host();
  double worst = 0;
  for (size_t i = 0; i < moved.size(); i += 97) {
    const double3 want = position_after(bodies, velocity, i, dt);
    worst = std::fmax(worst,
                      std::fabs(moved[i].x - want.x) + std::fabs(moved[i].y - want.y) + std::fabs(moved[i].z - want.z));
  }

  float4 *from = b.get(), *to = a.get();
  const float ms = milliseconds(
      [&] {
        step<<<blocks_for(n, kBlock), kBlock>>>(from, to, v.get(), n, dt);
        std::swap(from, to);
      },
      steps);
  std::printf("%d bodies: %.3f ms a step, %.1f GFLOP/s (20 a pair), largest error of a step %.1e\n", n, ms,
              20.0 * n * n / ms * 1e-6, worst);
  return worst < 1e-5 ? 0 : 1;
}
