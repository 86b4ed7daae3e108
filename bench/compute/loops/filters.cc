#include <algorithm>
#include <cmath>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr int kRadius = 4;

struct Picture {
  const float* pixels;
  int width, height;
  float at(int x, int y) const { return pixels[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)]; }
};

float bell(float x) { return std::exp(-x * x / (2 * 2.0f * 2.0f)); }

float blurred(Picture p, int x, int y, int dx, int dy) {
  float sum = 0, weights = 0;
  for (int i = -kRadius; i <= kRadius; ++i) {
    const float w = bell(static_cast<float>(i));
    sum += w * p.at(x + i * dx, y + i * dy), weights += w;
  }
  return sum / weights;
}

float edge(Picture p, int x, int y) {
  const float gx = p.at(x + 1, y - 1) + 2 * p.at(x + 1, y) + p.at(x + 1, y + 1) - p.at(x - 1, y - 1) -
                   2 * p.at(x - 1, y) - p.at(x - 1, y + 1);
  const float gy = p.at(x - 1, y + 1) + 2 * p.at(x, y + 1) + p.at(x + 1, y + 1) - p.at(x - 1, y - 1) -
                   2 * p.at(x, y - 1) - p.at(x + 1, y - 1);
  return std::sqrt(gx * gx + gy * gy);
}

float bilateral(Picture p, int x, int y) {
  const float here = p.at(x, y);
  float sum = 0, weights = 0;
  for (int j = -kRadius; j <= kRadius; ++j)
    for (int i = -kRadius; i <= kRadius; ++i) {
      const float other = p.at(x + i, y + j), unlike = (other - here) * 10;
      const float w = bell(static_cast<float>(i)) * bell(static_cast<float>(j)) * std::exp(-unlike * unlike / 2);
      sum += w * other, weights += w;
    }
  return sum / weights;
}

template <class F>
void apply(Picture p, float* to, F filter) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) to[y * p.width + x] = filter(p, x, y);
}

}  // namespace

void filters(const Work& work) {
  const int width = work.number(0), height = work.number(1);
  const Picture picture{work.array<float>(0), width, height}, across{work.array<float>(1), width, height};
  apply(picture, work.array<float>(1), [](Picture p, int x, int y) { return blurred(p, x, y, 1, 0); });
  apply(across, work.array<float>(2), [](Picture p, int x, int y) { return blurred(p, x, y, 0, 1); });
  apply(picture, work.array<float>(3), [](Picture p, int x, int y) { return edge(p, x, y); });
  apply(picture, work.array<float>(4), [](Picture p, int x, int y) { return bilateral(p, x, y); });
}

}  // namespace trine::bench_compute
