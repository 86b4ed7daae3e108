// A path tracer: spheres that glow, scatter or mirror, and a random walk of light for each sample. Threads bounce
// differently often.
//
//   trine cc examples/compute/path_tracer.cu -o path_tracer && ./path_tracer [width] [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>

#include "support.h"

constexpr int kMostBounces = 8, kSamples = 16;

struct Vector {
  float x, y, z;
};
__device__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ Vector operator*(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ Vector operator*(Vector a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ Vector unit(Vector a) { return a * rsqrtf(dot(a, a)); }

struct Sphere {
  Vector centre;
  float radius;
  Vector colour;
  float glow, mirror;
};
__constant__ Sphere kSpheres[] = {
    {{0, -1000, 0}, 1000, {0.8f, 0.8f, 0.75f}, 0, 0},  {{-2.2f, 1, 0.4f}, 1, {0.9f, 0.3f, 0.2f}, 0, 0},
    {{0, 1, -0.6f}, 1, {0.95f, 0.95f, 0.95f}, 0, 1},   {{2.2f, 1, 0.4f}, 1, {0.2f, 0.45f, 0.9f}, 0, 0},
    {{0.9f, 0.4f, 1.5f}, 0.4f, {1, 0.8f, 0.4f}, 6, 0}, {{-1, 0.35f, 1.6f}, 0.35f, {0.4f, 0.9f, 0.5f}, 0, 0.5f}};

// Uniform in [0, 1): a PCG step (O'Neill 2014).
__device__ float random(uint32_t& state) {
  state = state * 747796405u + 2891336453u;
  const uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return ((word >> 22 ^ word) >> 8) * (1.0f / (1 << 24));
}
__device__ Vector direction(uint32_t& state) {
  const float z = 1 - 2 * random(state), r = sqrtf(1 - z * z), a = 6.2831853f * random(state);
  return {r * cosf(a), r * sinf(a), z};
}

// The nearest sphere in front, -1 when there is none; t is how far.
__device__ int nearest(Vector from, Vector to, float& t) {
  int found = -1;
  t = 1e30f;
  for (int i = 0; i < static_cast<int>(sizeof kSpheres / sizeof *kSpheres); ++i) {
    const Vector d = from - kSpheres[i].centre;
    const float b = dot(d, to), c = dot(d, d) - kSpheres[i].radius * kSpheres[i].radius, q = b * b - c;
    if (q <= 0) continue;
    const float root = sqrtf(q), near = -b - root, far = -b + root, hit = near > 1e-3f ? near : far;
    if (hit > 1e-3f && hit < t) t = hit, found = i;
  }
  return found;
}

__device__ Vector light_along(Vector from, Vector to, uint32_t& state) {
  Vector light = {0, 0, 0}, weight = {1, 1, 1};
  for (int bounce = 0; bounce < kMostBounces; ++bounce) {
    float t;
    const int i = nearest(from, to, t);
    if (i < 0) return light + weight * (Vector{0.5f, 0.7f, 1} * (0.35f + 0.35f * to.y));
    const Sphere& s = kSpheres[i];
    if (s.glow > 0) return light + weight * s.colour * s.glow;
    from = from + to * t;
    const Vector normal = unit(from - s.centre);
    weight = weight * s.colour;
    const bool mirrors = random(state) < s.mirror;
    to = mirrors ? to - normal * (2 * dot(to, normal)) : unit(normal + direction(state) * 0.999f);
  }
  return light;
}

__global__ void trace(float* picture, int width, int height, int samples) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uint32_t state = static_cast<uint32_t>(y * width + x) * 9781u + 1;
  Vector sum = {0, 0, 0};
  for (int s = 0; s < samples; ++s) {
    const float u = (x + random(state) - width / 2) / height, v = (height / 2 - y - random(state)) / height;
    sum = sum + light_along({0, 1.6f, 6}, unit({u, v - 0.12f, -1.1f}), state);
  }
  float* rgb = picture + (y * width + x) * 3;
  rgb[0] = sum.x / samples, rgb[1] = sum.y / samples, rgb[2] = sum.z / samples;
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv, 640, 64);
  const int width = options.size, height = width * 5 / 8;
  DeviceArray<float> light(size_t(width) * height * 3);
  const dim3 block(16, 16), grid(blocks_for(width, 16), blocks_for(height, 16));
  const float ms = milliseconds([&] { trace<<<grid, block>>>(light.get(), width, height, kSamples); }, 2);
  CHECK(cudaGetLastError());
  const std::vector<float> seen = light.to_host();
  double mean = 0;
  for (float v : seen) mean += v / seen.size();
  std::printf("%d x %d, %d samples: %.3f ms, %.2f M paths/s, mean light %.3f\n", width, height, kSamples, ms,
              double(width) * height * kSamples / ms * 1e-3, mean);
  if (options.picture) {
    std::vector<uint8_t> picture(seen.size());
    for (size_t i = 0; i < seen.size(); ++i)
      picture[i] = static_cast<uint8_t>(255 * std::fmin(1.0f, std::pow(seen[i], 1 / 2.2f)));
    stbi_write_png(options.picture, width, height, 3, picture.data(), width * 3);
  }
  return mean > 0.2 && mean < 0.9 ? 0 : 1;
}
