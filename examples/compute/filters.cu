// Image filters on one picture: Gaussian blur (separable), Sobel's edges, and a bilateral filter, which weights
// neighbours by distance and by likeness.
//
//   trine cc examples/compute/filters.cu -o filters && ./filters [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>
#include <random>

#include "support.h"

constexpr int kWidth = 1024, kHeight = 768, kRadius = 4;

__host__ __device__ int clamp(int x, int most) { return x < 0 ? 0 : x > most ? most : x; }
__host__ __device__ float at(const float* p, int x, int y) {
  return p[clamp(y, kHeight - 1) * kWidth + clamp(x, kWidth - 1)];
}
__host__ __device__ float bell(float x) { return expf(-x * x / (2 * 2.0f * 2.0f)); }

__host__ __device__ float blurred(const float* p, int x, int y, int dx, int dy) {
  float sum = 0, weights = 0;
  for (int i = -kRadius; i <= kRadius; ++i) {
    const float w = bell(static_cast<float>(i));
    sum += w * at(p, x + i * dx, y + i * dy), weights += w;
  }
  return sum / weights;
}

__host__ __device__ float edge(const float* p, int x, int y) {
  const float gx = at(p, x + 1, y - 1) + 2 * at(p, x + 1, y) + at(p, x + 1, y + 1) - at(p, x - 1, y - 1) -
                   2 * at(p, x - 1, y) - at(p, x - 1, y + 1);
  const float gy = at(p, x - 1, y + 1) + 2 * at(p, x, y + 1) + at(p, x + 1, y + 1) - at(p, x - 1, y - 1) -
                   2 * at(p, x, y - 1) - at(p, x + 1, y - 1);
  return sqrtf(gx * gx + gy * gy);
}

__host__ __device__ float bilateral(const float* p, int x, int y) {
  const float here = at(p, x, y);
  float sum = 0, weights = 0;
  for (int j = -kRadius; j <= kRadius; ++j)
    for (int i = -kRadius; i <= kRadius; ++i) {
      const float other = at(p, x + i, y + j), unlike = (other - here) * 10;
      const float w = bell(static_cast<float>(i)) * bell(static_cast<float>(j)) * expf(-unlike * unlike / 2);
      sum += w * other, weights += w;
    }
  return sum / weights;
}

template <class Filter>
__global__ void apply(const float* from, float* to, Filter filter) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kWidth && y < kHeight) to[y * kWidth + x] = filter(from, x, y);
}

template <class Filter>
bool run(const char* name, const std::vector<float>& picture, std::vector<float>& result, Filter filter) {
  DeviceArray<float> from(picture), to(picture.size());
  const dim3 block(32, 8), grid(blocks_for(kWidth, 32), blocks_for(kHeight, 8));
  const float ms = milliseconds([&] { apply<<<grid, block>>>(from.get(), to.get(), filter); });
  CHECK(cudaGetLastError());
  result = to.to_host();
  float worst = 0;
  for (int y = 0; y < kHeight; y += 5)
    for (int x = 0; x < kWidth; x += 3)
      worst = std::fmax(worst, std::fabs(result[size_t(y) * kWidth + x] - filter(picture.data(), x, y)));
  std::printf("%-10s %.3f ms, %.0f M pixels/s, largest error %.1e\n", name, ms, kWidth * kHeight / ms * 1e-3, worst);
  return worst < 1e-5f;
}

int main(int argc, char** argv) {
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 0.05f);
  std::vector<float> picture(size_t{kWidth} * kHeight), across, blur, edges, smooth;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      picture[size_t(y) * kWidth + x] = ((x / 96 + y / 96) % 2 ? 0.75f : 0.25f) + noise(random);
  const auto row = [] __host__ __device__(const float* p, int x, int y) { return blurred(p, x, y, 1, 0); };
  const auto column = [] __host__ __device__(const float* p, int x, int y) { return blurred(p, x, y, 0, 1); };
  const auto sobel = [] __host__ __device__(const float* p, int x, int y) { return edge(p, x, y); };
  const auto keep_edges = [] __host__ __device__(const float* p, int x, int y) { return bilateral(p, x, y); };
  bool right = run("gauss rows", picture, across, row);
  right = run("and columns", across, blur, column) && right;
  right = run("sobel", picture, edges, sobel) && right;
  right = run("bilateral", picture, smooth, keep_edges) && right;
  if (argc > 1) {  // quarters: the picture, blurred, edges, smoothed
    std::vector<uint8_t> grey(picture.size());
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const auto& part = y < kHeight / 2 ? (x < kWidth / 2 ? picture : blur) : (x < kWidth / 2 ? edges : smooth);
        grey[size_t(y) * kWidth + x] =
            static_cast<uint8_t>(255 * std::fmin(1.0f, std::fmax(0.0f, part[size_t(y) * kWidth + x])));
      }
    stbi_write_png(argv[1], kWidth, kHeight, 1, grey.data(), kWidth);
  }
  return right ? 0 : 1;
}
