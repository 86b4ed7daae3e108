#include <cmath>

#include "rows.h"

namespace trine::bench_compute {

struct Body {
  float x, y, z, m;
};
constexpr float kSoftening = 1e-2f;

void nbody(const Work& work) {
  const Body* from = work.array<Body>(0);
  Body *to = work.array<Body>(1), *velocity = work.array<Body>(2);
  const int n = work.number(0);
  const float dt = static_cast<float>(work.numbers[1]);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    const Body body = from[i];
    float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (int j = 0; j < n; ++j) {
      const float x = from[j].x - body.x, y = from[j].y - body.y, z = from[j].z - body.z;
      const float inverse = 1 / std::sqrt(x * x + y * y + z * z + kSoftening * kSoftening);
      const float pull = from[j].m * inverse * inverse * inverse;
      ax += pull * x, ay += pull * y, az += pull * z;
    }
    Body& v = velocity[i];
    v.x += ax * dt, v.y += ay * dt, v.z += az * dt;
    to[i] = {body.x + v.x * dt, body.y + v.y * dt, body.z + v.z * dt, body.m};
  }
}

}  // namespace trine::bench_compute
