// Smoke in a box: the incompressible Navier-Stokes equations on a grid. Velocity is carried along itself backwards
// (Stam 1999), heat lifts it, and a pressure found by Jacobi's iteration takes its divergence away.
//
//   trine cc examples/compute/navier_stokes.cu -o navier_stokes && ./navier_stokes [width] [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>

#include "support.h"

constexpr int kSteps = 200, kIterations = 40;
constexpr float kDt = 0.5f, kLift = 0.12f;

struct Grid {
  int width, height;
  __device__ int index_of(int x, int y) const { return min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1); }
  __device__ bool is_wall(int x, int y) const { return x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1; }
};

template <class T>
__device__ T mix(T a, T b, float t) {
  return a + (b - a) * t;
}
__device__ float3 operator+(float3 a, float3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ float3 operator-(float3 a, float3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float3 operator*(float3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }

// A cell holds velocity in x, y and smoke in z.
__device__ float3 between(const float3* cells, Grid g, float x, float y) {
  const float fx = floorf(x), fy = floorf(y);
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  return mix(mix(cells[g.index_of(ix, iy)], cells[g.index_of(ix + 1, iy)], x - fx),
             mix(cells[g.index_of(ix, iy + 1)], cells[g.index_of(ix + 1, iy + 1)], x - fx), y - fy);
}

__global__ void carry(const float3* from, float3* to, Grid g) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float3 here = from[g.index_of(x, y)];
  float3 cell = between(from, g, x - kDt * here.x, y - kDt * here.y);
  const float dx = x + 0.5f - 0.5f * g.width, dy = y - 0.1f * g.width, radius = 0.05f * g.width;
  if (dx * dx + dy * dy < radius * radius) cell.z = 1;  // where smoke comes from
  cell.y += kDt * kLift * cell.z;
  if (g.is_wall(x, y)) cell = {0, 0, 0};
  to[y * g.width + x] = cell;
}

__device__ float divergence_at(const float3* cells, Grid g, int x, int y) {
  return 0.5f * (cells[g.index_of(x + 1, y)].x - cells[g.index_of(x - 1, y)].x + cells[g.index_of(x, y + 1)].y -
                 cells[g.index_of(x, y - 1)].y);
}

__global__ void relax(const float3* cells, const float* from, float* to, Grid g) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float around =
      from[g.index_of(x - 1, y)] + from[g.index_of(x + 1, y)] + from[g.index_of(x, y - 1)] + from[g.index_of(x, y + 1)];
  to[y * g.width + x] = (around - divergence_at(cells, g, x, y)) * 0.25f;
}

__global__ void project(float3* cells, const float* pressure, Grid g) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (g.is_wall(x, y)) return;
  float3& cell = cells[y * g.width + x];
  cell.x -= 0.5f * (pressure[g.index_of(x + 1, y)] - pressure[g.index_of(x - 1, y)]);
  cell.y -= 0.5f * (pressure[g.index_of(x, y + 1)] - pressure[g.index_of(x, y - 1)]);
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv, 256, 64);
  const int width = options.size / 32 * 32, height = width * 3 / 2, count = width * height;
  const Grid g{width, height};
  const std::vector<float3> nothing(count, float3{0, 0, 0});
  DeviceArray<float3> a(nothing), b(nothing);
  DeviceArray<float> p(nothing.size()), q(nothing.size());
  const dim3 block(32, 8), grid(width / 32, height / 8);
  const auto step = [&] {
    carry<<<grid, block>>>(a.get(), b.get(), g);
    CHECK(cudaMemset(p.get(), 0, p.bytes()));
    for (int i = 0; i < kIterations; i += 2) {
      relax<<<grid, block>>>(b.get(), p.get(), q.get(), g);
      relax<<<grid, block>>>(b.get(), q.get(), p.get(), g);
    }
    project<<<grid, block>>>(b.get(), p.get(), g);
    CHECK(cudaMemcpy(a.get(), b.get(), a.bytes(), cudaMemcpyDeviceToDevice));
  };
  for (int s = 0; s < kSteps; ++s) step();
  CHECK(cudaGetLastError());
  const float ms = milliseconds(step);
  const std::vector<float3> cells = a.to_host();
  double smoke = 0, up = 0, left = 0, right = 0;
  for (int i = 0; i < count; ++i) {
    smoke += cells[i].z, up += cells[i].y * cells[i].z;
    (i % width < width / 2 ? left : right) += cells[i].z;
  }
  std::printf("%d x %d: %.3f ms a step (%d iterations), smoke %.0f cells, rising at %.2f cells a second\n", width,
              height, ms, kIterations, smoke, up / smoke);
  if (options.picture) {
    std::vector<uint8_t> grey(count);
    for (int i = 0; i < count; ++i)
      grey[size_t(height - 1 - i / width) * width + i % width] =
          static_cast<uint8_t>(255 * std::fmin(1.0f, std::fmax(0.0f, cells[i].z)));
    stbi_write_png(options.picture, width, height, 1, grey.data(), width);
  }
  return smoke > count / 200 && up > 0 && std::fabs(left - right) < 0.1 * smoke ? 0 : 1;
}
