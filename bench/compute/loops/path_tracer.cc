#include <cmath>
#include <cstdint>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr int kMostBounces = 8;

struct Vector {
  float x, y, z;
};
Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vector operator*(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
Vector operator*(Vector a, float s) { return {a.x * s, a.y * s, a.z * s}; }
float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector unit(Vector a) { return a * (1 / std::sqrt(dot(a, a))); }

struct Sphere {
  Vector centre;
  float radius;
  Vector colour;
  float glow, mirror;
};
constexpr Sphere kSpheres[] = {
    {{0, -1000, 0}, 1000, {0.8f, 0.8f, 0.75f}, 0, 0},  {{-2.2f, 1, 0.4f}, 1, {0.9f, 0.3f, 0.2f}, 0, 0},
    {{0, 1, -0.6f}, 1, {0.95f, 0.95f, 0.95f}, 0, 1},   {{2.2f, 1, 0.4f}, 1, {0.2f, 0.45f, 0.9f}, 0, 0},
    {{0.9f, 0.4f, 1.5f}, 0.4f, {1, 0.8f, 0.4f}, 6, 0}, {{-1, 0.35f, 1.6f}, 0.35f, {0.4f, 0.9f, 0.5f}, 0, 0.5f}};

float random(uint32_t& state) {
  state = state * 747796405u + 2891336453u;
  const uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return static_cast<float>((word >> 22 ^ word) >> 8) * (1.0f / (1 << 24));
}
Vector direction(uint32_t& state) {
  const float z = 1 - 2 * random(state), r = std::sqrt(1 - z * z), a = 6.2831853f * random(state);
  return {r * std::cos(a), r * std::sin(a), z};
}

const Sphere* nearest(Vector from, Vector to, float& t) {
  const Sphere* found = nullptr;
  t = 1e30f;
  for (const Sphere& sphere : kSpheres) {
    const Vector d = from - sphere.centre;
    const float b = dot(d, to), c = dot(d, d) - sphere.radius * sphere.radius, q = b * b - c;
    if (q <= 0) continue;
    const float root = std::sqrt(q), near = -b - root, far = -b + root, hit = near > 1e-3f ? near : far;
    if (hit > 1e-3f && hit < t) t = hit, found = &sphere;
  }
  return found;
}

Vector light_along(Vector from, Vector to, uint32_t& state) {
  Vector light = {0, 0, 0}, weight = {1, 1, 1};
  for (int bounce = 0; bounce < kMostBounces; ++bounce) {
    float t;
    const Sphere* s = nearest(from, to, t);
    if (!s) return light + weight * (Vector{0.5f, 0.7f, 1} * (0.35f + 0.35f * to.y));
    if (s->glow > 0) return light + weight * s->colour * s->glow;
    from = from + to * t;
    const Vector normal = unit(from - s->centre);
    weight = weight * s->colour;
    const bool mirrors = random(state) < s->mirror;
    to = mirrors ? to - normal * (2 * dot(to, normal)) : unit(normal + direction(state) * 0.999f);
  }
  return light;
}

}  // namespace

void path_tracer(const Work& work) {
  float* picture = work.array<float>(0);
  const int width = work.number(0), height = work.number(1), samples = work.number(2);
#pragma omp parallel for schedule(dynamic)
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      uint32_t state = static_cast<uint32_t>(y * width + x) * 9781u + 1;
      Vector sum = {0, 0, 0};
      for (int s = 0; s < samples; ++s) {
        const float u =
            (static_cast<float>(x) + random(state) - static_cast<float>(width / 2)) / static_cast<float>(height);
        const float v = (static_cast<float>(height / 2 - y) - random(state)) / static_cast<float>(height);
        sum = sum + light_along({0, 1.6f, 6}, unit({u, v - 0.12f, -1.1f}), state);
      }
      float* rgb = picture + (y * width + x) * 3;
      const float n = static_cast<float>(samples);
      rgb[0] = sum.x / n, rgb[1] = sum.y / n, rgb[2] = sum.z / n;
    }
}

}  // namespace trine::bench_compute
