#include "rows.h"

namespace trine::bench_compute {

constexpr int kMost = 1000;

static int steps_to_leave(float cx, float cy) {
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

void mandelbrot(const Work& work) {
  int* steps = work.array<int>(0);
  const int width = work.number(0), height = work.number(1);
  const float unit = 3.2f / width;
#pragma omp parallel for schedule(dynamic)
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      steps[y * width + x] = steps_to_leave(-0.6f + (x - 0.5f * width) * unit, (y - 0.5f * height) * unit);
}

}  // namespace trine::bench_compute
