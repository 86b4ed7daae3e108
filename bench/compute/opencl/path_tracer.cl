#define MOST_BOUNCES 8
#define SPHERES 6

typedef struct {
  float3 centre;
  float radius;
  float3 colour;
  float glow, mirror;
} Sphere;
constant Sphere spheres[SPHERES] = {
    {(float3)(0, -1000, 0), 1000, (float3)(0.8f, 0.8f, 0.75f), 0, 0},
    {(float3)(-2.2f, 1, 0.4f), 1, (float3)(0.9f, 0.3f, 0.2f), 0, 0},
    {(float3)(0, 1, -0.6f), 1, (float3)(0.95f, 0.95f, 0.95f), 0, 1},
    {(float3)(2.2f, 1, 0.4f), 1, (float3)(0.2f, 0.45f, 0.9f), 0, 0},
    {(float3)(0.9f, 0.4f, 1.5f), 0.4f, (float3)(1, 0.8f, 0.4f), 6, 0},
    {(float3)(-1, 0.35f, 1.6f), 0.35f, (float3)(0.4f, 0.9f, 0.5f), 0, 0.5f}};

float random(uint* state) {
  *state = *state * 747796405u + 2891336453u;
  const uint word = ((*state >> ((*state >> 28) + 4)) ^ *state) * 277803737u;
  return ((word >> 22 ^ word) >> 8) * (1.0f / (1 << 24));
}
float3 unit(float3 a) { return a * rsqrt(dot(a, a)); }
float3 direction(uint* state) {
  const float z = 1 - 2 * random(state), r = sqrt(1 - z * z), a = 6.2831853f * random(state);
  return (float3)(r * cos(a), r * sin(a), z);
}

int nearest(float3 from, float3 to, float* t) {
  int found = -1;
  *t = 1e30f;
  for (int i = 0; i < SPHERES; ++i) {
    const float3 d = from - spheres[i].centre;
    const float b = dot(d, to), c = dot(d, d) - spheres[i].radius * spheres[i].radius, q = b * b - c;
    if (q <= 0) continue;
    const float root = sqrt(q), near = -b - root, far = -b + root, hit = near > 1e-3f ? near : far;
    if (hit > 1e-3f && hit < *t) *t = hit, found = i;
  }
  return found;
}

float3 light_along(float3 from, float3 to, uint* state) {
  float3 light = (float3)(0), weight = (float3)(1);
  for (int bounce = 0; bounce < MOST_BOUNCES; ++bounce) {
    float t;
    const int i = nearest(from, to, &t);
    if (i < 0) return light + weight * ((float3)(0.5f, 0.7f, 1) * (0.35f + 0.35f * to.y));
    if (spheres[i].glow > 0) return light + weight * spheres[i].colour * spheres[i].glow;
    from = from + to * t;
    const float3 normal = unit(from - spheres[i].centre);
    weight = weight * spheres[i].colour;
    const bool mirrors = random(state) < spheres[i].mirror;
    to = mirrors ? to - normal * (2 * dot(to, normal)) : unit(normal + direction(state) * 0.999f);
  }
  return light;
}

kernel void trace(global float* restrict picture, int width, int height, int samples) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  uint state = (uint)(y * width + x) * 9781u + 1;
  float3 sum = (float3)(0);
  for (int s = 0; s < samples; ++s) {
    const float u = (x + random(&state) - width / 2) / height, v = (height / 2 - y - random(&state)) / height;
    sum = sum + light_along((float3)(0, 1.6f, 6), unit((float3)(u, v - 0.12f, -1.1f)), &state);
  }
  vstore3(sum / samples, y * width + x, picture);
}
