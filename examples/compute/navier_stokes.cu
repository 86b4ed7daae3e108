// Smoke in a box: the incompressible Navier-Stokes equations on a grid. Velocity is carried along itself backwards
// (Stam 1999), heat lifts it, and a pressure found by Jacobi's iteration takes its divergence away.
//
//   trine cc examples/compute/navier_stokes.cu -o navier_stokes && ./navier_stokes [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>

#include "support.h"

constexpr int kWidth = 256, kHeight = 384, kCells = kWidth * kHeight, kSteps = 120, kIterations = 40;
constexpr float kDt = 0.5f, kLift = 0.12f;

__device__ int index_of(int x, int y) { return min(max(y, 0), kHeight - 1) * kWidth + min(max(x, 0), kWidth - 1); }
__device__ bool is_wall(int x, int y) { return x <= 0 || y <= 0 || x >= kWidth - 1 || y >= kHeight - 1; }

template <class T>
__device__ T mix(T a, T b, float t) {
  return a + (b - a) * t;
}
__device__ float3 operator+(float3 a, float3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ float3 operator-(float3 a, float3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float3 operator*(float3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }

// A cell holds velocity in x, y and smoke in z.
__device__ float3 between(const float3* cells, float x, float y) {
  const float fx = floorf(x), fy = floorf(y);
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  return mix(mix(cells[index_of(ix, iy)], cells[index_of(ix + 1, iy)], x - fx),
             mix(cells[index_of(ix, iy + 1)], cells[index_of(ix + 1, iy + 1)], x - fx), y - fy);
}

__global__ void carry(const float3* from, float3* to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float3 here = from[index_of(x, y)];
  float3 cell = between(from, x - kDt * here.x, y - kDt * here.y);
  const int dx = x - kWidth / 2, dy = y - 24;
  if (dx * dx + dy * dy < 144) cell.z = 1;  // where smoke comes from
  cell.y += kDt * kLift * cell.z;
  if (is_wall(x, y)) cell = {0, 0, 0};
  to[y * kWidth + x] = cell;
}

__device__ float divergence_at(const float3* cells, int x, int y) {
  return 0.5f * (cells[index_of(x + 1, y)].x - cells[index_of(x - 1, y)].x + cells[index_of(x, y + 1)].y -
                 cells[index_of(x, y - 1)].y);
}

__global__ void relax(const float3* cells, const float* from, float* to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float around =
      from[index_of(x - 1, y)] + from[index_of(x + 1, y)] + from[index_of(x, y - 1)] + from[index_of(x, y + 1)];
  to[y * kWidth + x] = (around - divergence_at(cells, x, y)) * 0.25f;
}

__global__ void project(float3* cells, const float* pressure) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (is_wall(x, y)) return;
  float3& cell = cells[y * kWidth + x];
  cell.x -= 0.5f * (pressure[index_of(x + 1, y)] - pressure[index_of(x - 1, y)]);
  cell.y -= 0.5f * (pressure[index_of(x, y + 1)] - pressure[index_of(x, y - 1)]);
}

int main(int argc, char** argv) {
  const std::vector<float3> nothing(kCells, float3{0, 0, 0});
  DeviceArray<float3> a(nothing), b(nothing);
  DeviceArray<float> p(size_t{kCells}), q(size_t{kCells});
  const dim3 block(32, 8), grid(kWidth / 32, kHeight / 8);
  const auto step = [&] {
    carry<<<grid, block>>>(a.get(), b.get());
    CHECK(cudaMemset(p.get(), 0, p.bytes()));
    for (int i = 0; i < kIterations; i += 2) {
      relax<<<grid, block>>>(b.get(), p.get(), q.get());
      relax<<<grid, block>>>(b.get(), q.get(), p.get());
    }
    project<<<grid, block>>>(b.get(), p.get());
    CHECK(cudaMemcpy(a.get(), b.get(), a.bytes(), cudaMemcpyDeviceToDevice));
  };
  for (int s = 0; s < kSteps; ++s) step();
  CHECK(cudaGetLastError());
  const float ms = milliseconds(step);
  const std::vector<float3> cells = a.to_host();
  double smoke = 0, up = 0, left = 0, right = 0;
  for (int i = 0; i < kCells; ++i) {
    smoke += cells[i].z, up += cells[i].y * cells[i].z;
    (i % kWidth < kWidth / 2 ? left : right) += cells[i].z;
  }
  std::printf("%d x %d: %.2f ms a step (%d iterations), smoke %.0f cells, rising at %.2f cells a second\n", kWidth,
              kHeight, ms, kIterations, smoke, up / smoke);
  if (argc > 1) {
    std::vector<uint8_t> grey(kCells);
    for (int i = 0; i < kCells; ++i)
      grey[size_t(kHeight - 1 - i / kWidth) * kWidth + i % kWidth] =
          static_cast<uint8_t>(255 * std::fmin(1.0f, std::fmax(0.0f, cells[i].z)));
    stbi_write_png(argv[1], kWidth, kHeight, 1, grey.data(), kWidth);
  }
  return smoke > 500 && up > 0 && std::fabs(left - right) < 0.1 * smoke ? 0 : 1;
}
