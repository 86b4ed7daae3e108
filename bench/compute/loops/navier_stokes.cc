#include <algorithm>
#include <cmath>
#include <cstring>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr float kDt = 0.5f, kLift = 0.12f;

struct Cell {
  float x, y, z;
};
Cell mix(Cell a, Cell b, float t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t}; }

struct Grid {
  int width, height;
  int index_of(int x, int y) const { return std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1); }
  bool is_wall(int x, int y) const { return x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1; }
};

void carry(const Cell* from, Cell* to, Grid g) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < g.height; ++y)
    for (int x = 0; x < g.width; ++x) {
      const Cell here = from[y * g.width + x];
      const float px = static_cast<float>(x) - kDt * here.x, py = static_cast<float>(y) - kDt * here.y;
      const float fx = std::floor(px), fy = std::floor(py);
      const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
      Cell cell = mix(mix(from[g.index_of(ix, iy)], from[g.index_of(ix + 1, iy)], px - fx),
                      mix(from[g.index_of(ix, iy + 1)], from[g.index_of(ix + 1, iy + 1)], px - fx), py - fy);
      const float w = static_cast<float>(g.width), dx = static_cast<float>(x) + 0.5f - 0.5f * w,
                  dy = static_cast<float>(y) - 0.1f * w;
      if (dx * dx + dy * dy < 0.05f * w * 0.05f * w) cell.z = 1;
      cell.y += kDt * kLift * cell.z;
      if (g.is_wall(x, y)) cell = {0, 0, 0};
      to[y * g.width + x] = cell;
    }
}

void relax(const Cell* cells, const float* from, float* to, Grid g) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < g.height; ++y)
    for (int x = 0; x < g.width; ++x) {
      const int left = g.index_of(x - 1, y), right = g.index_of(x + 1, y), down = g.index_of(x, y - 1),
                up = g.index_of(x, y + 1);
      const float divergence = 0.5f * (cells[right].x - cells[left].x + cells[up].y - cells[down].y);
      to[y * g.width + x] = (from[left] + from[right] + from[down] + from[up] - divergence) * 0.25f;
    }
}

void project(Cell* cells, const float* pressure, Grid g) {
#pragma omp parallel for schedule(static)
  for (int y = 1; y < g.height - 1; ++y)
    for (int x = 1; x < g.width - 1; ++x) {
      const float* p = pressure + y * g.width + x;
      Cell& cell = cells[y * g.width + x];
      cell.x -= 0.5f * (p[1] - p[-1]);
      cell.y -= 0.5f * (p[g.width] - p[-g.width]);
    }
}

}  // namespace

void navier_stokes(const Work& work) {
  Cell *a = work.array<Cell>(0), *b = work.array<Cell>(1);
  float *p = work.array<float>(2), *q = work.array<float>(3);
  const Grid g{work.number(0), work.number(1)};
  const size_t cells = static_cast<size_t>(g.width) * static_cast<size_t>(g.height);
  carry(a, b, g);
  std::memset(p, 0, cells * sizeof(float));
  for (int i = 0; i < work.number(2); i += 2) {
    relax(b, p, q, g);
    relax(b, q, p, g);
  }
  project(b, p, g);
  std::memcpy(a, b, cells * sizeof(Cell));
}

}  // namespace trine::bench_compute
