// A rasteriser: a torus of triangles, turned, projected and shaded. A thread for each triangle walks its box; depth and
// colour are one 64-bit word, so that atomicMin keeps the nearest.
//
//   trine cc examples/compute/rasteriser.cu -o rasteriser && ./rasteriser [quads around] [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>

#include "support.h"

constexpr int kWidth = 800, kHeight = 600;
constexpr unsigned long long kFar = ~0ull;

__device__ float3 operator-(float3 a, float3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float3 cross(float3 a, float3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A corner of the torus, turned towards us, six away. It has `pieces` quads around its tube, twice as many along it.
__device__ float3 corner(int around, int along, int pieces) {
  float s, c, t, d;
  sincospif(2.0f * around / pieces, &s, &c);
  sincospif(1.0f * along / pieces, &t, &d);
  const float3 p = {(2 + 0.8f * c) * d, (2 + 0.8f * c) * t, 0.8f * s};
  const float tilt_s = 0.84f, tilt_c = 0.5426f;
  return {p.x, p.y * tilt_c - p.z * tilt_s, p.y * tilt_s + p.z * tilt_c + 6};
}
__device__ float3 to_screen(float3 p) {
  const float scale = kHeight * 0.95f / p.z;
  return {kWidth / 2 + p.x * scale, kHeight / 2 - p.y * scale, p.z};
}
// Twice the signed area of a, b, (x, y).
__device__ float side(float3 a, float3 b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

__global__ void clear(unsigned long long* pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWidth * kHeight) pixels[i] = kFar;
}

__global__ void draw(unsigned long long* pixels, int pieces) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pieces * pieces * 4) return;
  const int around = i / 2 % pieces, along = i / 2 / pieces, half = i % 2;
  const float3 p = corner(around + half, along + half, pieces), q = corner(around + 1, along, pieces),
               r = corner(around, along + 1, pieces);
  const float3 n = half ? cross(r - p, q - p) : cross(q - p, r - p);
  const float shade = fabsf(n.x * 0.4f + n.y * 0.6f - n.z * 0.69f) * rsqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
  const int tint = (along * 16 / pieces + around * 8 / pieces) % 2;
  const unsigned grey = static_cast<unsigned>(40 + 215 * shade),
                 colour = grey << 16 | (tint ? grey : grey / 2) << 8 | grey / 3;

  const float3 a = to_screen(p), b = to_screen(q), c = to_screen(r);
  const float area = side(a, b, c.x, c.y);
  if (area == 0) return;
  const int x0 = max(0, int(fminf(a.x, fminf(b.x, c.x)))), x1 = min(kWidth - 1, int(fmaxf(a.x, fmaxf(b.x, c.x))));
  const int y0 = max(0, int(fminf(a.y, fminf(b.y, c.y)))), y1 = min(kHeight - 1, int(fmaxf(a.y, fmaxf(b.y, c.y))));
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const float u = side(b, c, x + 0.5f, y + 0.5f) / area, v = side(c, a, x + 0.5f, y + 0.5f) / area, w = 1 - u - v;
      if (u < 0 || v < 0 || w < 0) continue;
      const float depth = u * a.z + v * b.z + w * c.z;
      atomicMin(&pixels[y * kWidth + x], static_cast<unsigned long long>(__float_as_uint(depth)) << 32 | colour);
    }
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv, 256, 24);
  const int pieces = options.size, triangles = pieces * pieces * 4;
  DeviceArray<unsigned long long> pixels(size_t{kWidth} * kHeight);
  const float ms = milliseconds([&] {
    clear<<<blocks_for(kWidth * kHeight, 256), 256>>>(pixels.get());
    draw<<<blocks_for(triangles, 128), 128>>>(pixels.get(), pieces);
  });
  CHECK(cudaGetLastError());
  const std::vector<unsigned long long> seen = pixels.to_host();
  size_t covered = 0;
  for (unsigned long long p : seen) covered += p != kFar;
  const bool hole = seen[size_t{kHeight / 2} * kWidth + kWidth / 2] == kFar;
  std::printf("%d triangles: %.3f ms, %.1f M a second, %.1f %% of the picture covered\n", triangles, ms,
              triangles / ms * 1e-3, 100.0 * covered / seen.size());
  if (options.picture) {
    std::vector<uint8_t> rgb(seen.size() * 3, 24);
    for (size_t i = 0; i < seen.size(); ++i)
      for (int k = 0; k < 3 && seen[i] != kFar; ++k) rgb[i * 3 + k] = static_cast<uint8_t>(seen[i] >> (16 - 8 * k));
    stbi_write_png(options.picture, kWidth, kHeight, 3, rgb.data(), kWidth * 3);
  }
  return covered > seen.size() / 5 && covered < seen.size() / 2 && hole ? 0 : 1;
}
