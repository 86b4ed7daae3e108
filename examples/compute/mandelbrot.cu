// The Mandelbrot set: z <- z^2 + c until |z| > 2. Neighbouring threads leave their loops at different times.
//
//   trine cc examples/compute/mandelbrot.cu -o mandelbrot && ./mandelbrot [width] [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include "support.h"

constexpr int kMost = 1000;  // steps

__host__ __device__ int steps_to_leave(float cx, float cy) {
  float x = 0, y = 0;
  int n = 0;
  while (n < kMost && x * x + y * y <= 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++n;
  }
  return n;
}

// Pixels are squares of this many units.
__host__ __device__ float unit_of(int width) { return 3.2f / width; }
__host__ __device__ int steps_at(int x, int y, int width, int height) {
  return steps_to_leave(-0.6f + (x - 0.5f * width) * unit_of(width), (y - 0.5f * height) * unit_of(width));
}

__global__ void draw(int* steps, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) steps[y * width + x] = steps_at(x, y, width, height);
}

static void colour(int steps, uint8_t* rgb) {
  const float t = steps == kMost ? 0 : static_cast<float>(steps % 64) / 64;
  rgb[0] = static_cast<uint8_t>(255 * 9 * (1 - t) * t * t * t);
  rgb[1] = static_cast<uint8_t>(255 * 15 * (1 - t) * (1 - t) * t * t);
  rgb[2] = static_cast<uint8_t>(255 * 8.5f * (1 - t) * (1 - t) * (1 - t) * t);
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv, 1200, 120);
  const int width = options.size, height = width * 2 / 3;
  DeviceArray<int> steps(size_t(width) * height);
  const dim3 block(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
  const float ms = milliseconds([&] { draw<<<grid, block>>>(steps.get(), width, height); });
  CHECK(cudaGetLastError());
  const std::vector<int> found = steps.to_host();

  // Contraction of x * x - y * y may differ from the host's: a few border points leave at other steps.
  size_t sum = 0, differ = 0, checked = 0;
  for (int y = 0; y < height; y += 7)
    for (int x = 0; x < width; x += 5) {
      differ += found[size_t(y) * width + x] != steps_at(x, y, width, height);
      ++checked;
    }
  for (int n : found) sum += n;
  std::printf("%d x %d: %.3f ms, %.2f G steps/s; %zu of %zu points differ from the host's\n", width, height, ms,
              sum / ms * 1e-6, differ, checked);
  if (options.picture) {
    std::vector<uint8_t> picture(found.size() * 3);
    for (size_t i = 0; i < found.size(); ++i) colour(found[i], &picture[i * 3]);
    stbi_write_png(options.picture, width, height, 3, picture.data(), width * 3);
  }
  return differ * 50 < checked ? 0 : 1;
}
