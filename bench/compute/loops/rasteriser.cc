#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr int kWidth = 800, kHeight = 600;

struct Point {
  float x, y, z;
};
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Point cross(Point a, Point b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

Point corner(int around, int along, int pieces) {
  const float pi = 3.14159265f, n = static_cast<float>(pieces);
  const float a = 2 * pi * static_cast<float>(around) / n, b = pi * static_cast<float>(along) / n;
  const float s = std::sin(a), c = std::cos(a), t = std::sin(b), d = std::cos(b);
  const Point p = {(2 + 0.8f * c) * d, (2 + 0.8f * c) * t, 0.8f * s};
  const float tilt_s = 0.84f, tilt_c = 0.5426f;
  return {p.x, p.y * tilt_c - p.z * tilt_s, p.y * tilt_s + p.z * tilt_c + 6};
}
Point to_screen(Point p) {
  const float scale = kHeight * 0.95f / p.z;
  return {kWidth / 2 + p.x * scale, kHeight / 2 - p.y * scale, p.z};
}
float side(Point a, Point b, float x, float y) { return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x); }

void keep_least(uint64_t& pixel, uint64_t value) {
  std::atomic_ref<uint64_t> shared(pixel);
  uint64_t seen = shared.load(std::memory_order_relaxed);
  while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void draw(int i, uint64_t* pixels, int pieces) {
  const int around = i / 2 % pieces, along = i / 2 / pieces, half = i % 2;
  const Point p = corner(around + half, along + half, pieces), q = corner(around + 1, along, pieces),
              r = corner(around, along + 1, pieces);
  const Point n = half ? cross(r - p, q - p) : cross(q - p, r - p);
  const float shade = std::fabs(n.x * 0.4f + n.y * 0.6f - n.z * 0.69f) / std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
  const int tint = (along * 16 / pieces + around * 8 / pieces) % 2;
  const uint32_t grey = static_cast<uint32_t>(40 + 215 * shade),
                 colour = grey << 16 | (tint ? grey : grey / 2) << 8 | grey / 3;

  const Point a = to_screen(p), b = to_screen(q), c = to_screen(r);
  const float area = side(a, b, c.x, c.y);
  if (area == 0) return;
  const int x0 = std::max(0, static_cast<int>(std::min({a.x, b.x, c.x})));
  const int x1 = std::min(kWidth - 1, static_cast<int>(std::max({a.x, b.x, c.x})));
  const int y0 = std::max(0, static_cast<int>(std::min({a.y, b.y, c.y})));
  const int y1 = std::min(kHeight - 1, static_cast<int>(std::max({a.y, b.y, c.y})));
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const float fx = static_cast<float>(x) + 0.5f, fy = static_cast<float>(y) + 0.5f;
      const float u = side(b, c, fx, fy) / area, v = side(c, a, fx, fy) / area, w = 1 - u - v;
      if (u < 0 || v < 0 || w < 0) continue;
      const float depth = u * a.z + v * b.z + w * c.z;
      keep_least(pixels[y * kWidth + x], uint64_t{std::bit_cast<uint32_t>(depth)} << 32 | colour);
    }
}

}  // namespace

void rasteriser(const Work& work) {
  uint64_t* pixels = work.array<uint64_t>(0);
  const int pieces = work.number(0), triangles = pieces * pieces * 4;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < kWidth * kHeight; ++i) pixels[i] = ~uint64_t{0};
#pragma omp for schedule(dynamic, 1024)
    for (int i = 0; i < triangles; ++i) draw(i, pixels, pieces);
  }
}

}  // namespace trine::bench_compute
