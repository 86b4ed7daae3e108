// Image filters on one picture: Gaussian blur (separable), Sobel's edges, and a bilateral filter, which weights
// neighbours by distance and by likeness.
//
//   trine cc examples/compute/filters.cu -o filters && ./filters [width] [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>
#include <random>

#include "support.h"

constexpr int kRadius = 4;

struct Picture {
  const float* pixels;
  int width, height;
};

__host__ __device__ int clamp(int x, int most) { return x < 0 ? 0 : x > most ? most : x; }
__host__ __device__ float at(Picture p, int x, int y) {
  return p.pixels[clamp(y, p.height - 1) * p.width + clamp(x, p.width - 1)];
}
__host__ __device__ float bell(float x) { return expf(-x * x / (2 * 2.0f * 2.0f)); }

__host__ __device__ float blurred(Picture p, int x, int y, int dx, int dy) {
  float sum = 0, weights = 0;
  for (int i = -kRadius; i <= kRadius; ++i) {
    const float w = bell(static_cast<float>(i));
    sum += w * at(p, x + i * dx, y + i * dy), weights += w;
  }
  return sum / weights;
}

struct Rows {
  static __host__ __device__ float at_pixel(Picture p, int x, int y) { return blurred(p, x, y, 1, 0); }
};
struct Columns {
  static __host__ __device__ float at_pixel(Picture p, int x, int y) { return blurred(p, x, y, 0, 1); }
};

struct Sobel {
  static __host__ __device__ float at_pixel(Picture p, int x, int y) {
    const float gx = at(p, x + 1, y - 1) + 2 * at(p, x + 1, y) + at(p, x + 1, y + 1) - at(p, x - 1, y - 1) -
                     2 * at(p, x - 1, y) - at(p, x - 1, y + 1);
    const float gy = at(p, x - 1, y + 1) + 2 * at(p, x, y + 1) + at(p, x + 1, y + 1) - at(p, x - 1, y - 1) -
                     2 * at(p, x, y - 1) - at(p, x + 1, y - 1);
    return sqrtf(gx * gx + gy * gy);
  }
};

struct Bilateral {
  static __host__ __device__ float at_pixel(Picture p, int x, int y) {
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
};

template <class Filter>
__global__ void apply(const float* pixels, float* to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) to[y * width + x] = Filter::at_pixel({pixels, width, height}, x, y);
}

template <class Filter>
bool run(const char* name, const std::vector<float>& picture, int width, std::vector<float>& result) {
  const int height = static_cast<int>(picture.size()) / width;
  DeviceArray<float> from(picture), to(picture.size());
  const dim3 block(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
  const float ms = milliseconds([&] { apply<Filter><<<grid, block>>>(from.get(), to.get(), width, height); });
  CHECK(cudaGetLastError());
  result = to.to_host();
  float worst = 0;
  for (int y = 0; y < height; y += 5)
    for (int x = 0; x < width; x += 3)
      worst = std::fmax(
          worst, std::fabs(result[size_t(y) * width + x] - Filter::at_pixel({picture.data(), width, height}, x, y)));
  std::printf("%-10s %.3f ms, %.0f M pixels/s, largest error %.1e\n", name, ms, width * height / ms * 1e-3, worst);
  return worst < 1e-5f;
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv, 1024, 100);
  const int width = options.size, height = width * 3 / 4, cell = width / 10;
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 0.05f);
  std::vector<float> picture(size_t(width) * height), across, blur, edges, smooth;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture[size_t(y) * width + x] = ((x / cell + y / cell) % 2 ? 0.75f : 0.25f) + noise(random);
  bool right = run<Rows>("gauss rows", picture, width, across);
  right = run<Columns>("and columns", across, width, blur) && right;
  right = run<Sobel>("sobel", picture, width, edges) && right;
  right = run<Bilateral>("bilateral", picture, width, smooth) && right;
  if (options.picture) {  // quarters: the picture, blurred, edges, smoothed
    std::vector<uint8_t> grey(picture.size());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const auto& part = y < height / 2 ? (x < width / 2 ? picture : blur) : (x < width / 2 ? edges : smooth);
        grey[size_t(y) * width + x] =
            static_cast<uint8_t>(255 * std::fmin(1.0f, std::fmax(0.0f, part[size_t(y) * width + x])));
      }
    stbi_write_png(options.picture, width, height, 1, grey.data(), width);
  }
  return right ? 0 : 1;
}
