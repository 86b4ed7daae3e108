// The Mandelbrot set: z <- z^2 + c until |z| > 2. Neighbouring threads leave their loops at different times.
//
//   trine cc examples/compute/mandelbrot.cu -o mandelbrot && ./mandelbrot [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include "support.h"

constexpr int kWidth = 1200, kHeight = 800, kMost = 1000;

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

__host__ __device__ float real_of(int px) { return -2.2f + 3.2f * (px + 0.5f) / kWidth; }
__host__ __device__ float imaginary_of(int py) { return -1.07f + 2.14f * (py + 0.5f) / kHeight; }

__global__ void draw(int* steps) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kWidth && y < kHeight) steps[y * kWidth + x] = steps_to_leave(real_of(x), imaginary_of(y));
}

static void colour(int steps, uint8_t* rgb) {
  const float t = steps == kMost ? 0 : static_cast<float>(steps % 64) / 64;
  rgb[0] = static_cast<uint8_t>(255 * 9 * (1 - t) * t * t * t);
  rgb[1] = static_cast<uint8_t>(255 * 15 * (1 - t) * (1 - t) * t * t);
  rgb[2] = static_cast<uint8_t>(255 * 8.5f * (1 - t) * (1 - t) * (1 - t) * t);
}

int main(int argc, char** argv) {
  DeviceArray<int> steps(size_t{kWidth} * kHeight);
  const dim3 block(32, 8), grid(blocks_for(kWidth, 32), blocks_for(kHeight, 8));
  const float ms = milliseconds([&] { draw<<<grid, block>>>(steps.get()); });
  CHECK(cudaGetLastError());
  const std::vector<int> found = steps.to_host();

  // Contraction of x * x - y * y may differ from the host's: a few border points leave at other steps.
  size_t sum = 0, differ = 0, checked = 0;
  for (int y = 0; y < kHeight; y += 7)
    for (int x = 0; x < kWidth; x += 5) {
      differ += found[size_t(y) * kWidth + x] != steps_to_leave(real_of(x), imaginary_of(y));
      ++checked;
    }
  for (int n : found) sum += n;
  std::printf("%d x %d: %.2f ms, %.2f G steps/s; %zu of %zu points differ from the host's\n", kWidth, kHeight, ms,
              sum / ms * 1e-6, differ, checked);
  if (argc > 1) {
    std::vector<uint8_t> picture(found.size() * 3);
    for (size_t i = 0; i < found.size(); ++i) colour(found[i], &picture[i * 3]);
    stbi_write_png(argv[1], kWidth, kHeight, 3, picture.data(), kWidth * 3);
  }
  return differ * 50 < checked ? 0 : 1;
}
