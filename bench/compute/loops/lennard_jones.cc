#include <cmath>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr float kCutoff = 2.5f;

struct Atom {
  float x, y, z;
  int cell;
};
struct Force {
  float x, y, z, energy;
};

float nearest_image(float d, float length) { return d - length * std::rint(d / length); }

Force force_on(int i, const Atom* atoms, const int* first, float length, int cells) {
  const Atom p = atoms[i];
  const int cx = p.cell % cells, cy = p.cell / cells % cells, cz = p.cell / (cells * cells);
  Force f = {0, 0, 0, 0};
  for (int n = 0; n < 27; ++n) {
    const int x = (cx + n % 3 + cells - 1) % cells, y = (cy + n / 3 % 3 + cells - 1) % cells,
              z = (cz + n / 9 + cells - 1) % cells, cell = (z * cells + y) * cells + x;
    for (int j = first[cell]; j < first[cell + 1]; ++j) {
      const float dx = nearest_image(p.x - atoms[j].x, length), dy = nearest_image(p.y - atoms[j].y, length),
                  dz = nearest_image(p.z - atoms[j].z, length), r2 = dx * dx + dy * dy + dz * dz;
      if (j == i || r2 >= kCutoff * kCutoff) continue;
      const float s2 = 1 / r2, s6 = s2 * s2 * s2, pull = 48 * s6 * (s6 - 0.5f) * s2;
      f.x += pull * dx, f.y += pull * dy, f.z += pull * dz;
      f.energy += 2 * s6 * (s6 - 1);
    }
  }
  return f;
}

}  // namespace

void lennard_jones(const Work& work) {
  const Atom* atoms = work.array<Atom>(0);
  Force* forces = work.array<Force>(1);
  const int* first = work.array<int>(2);
  const int count = work.number(0), cells = work.number(2);
  const float length = static_cast<float>(work.numbers[1]);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) forces[i] = force_on(i, atoms, first, length, cells);
}

}  // namespace trine::bench_compute
