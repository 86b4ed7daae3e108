#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define WIDTH 800
#define HEIGHT 600

float3 corner(int around, int along, int pieces) {
  float c, d;
  const float s = sincos(2.0f * M_PI_F * around / pieces, &c), t = sincos(M_PI_F * along / pieces, &d);
  const float3 p = (float3)((2 + 0.8f * c) * d, (2 + 0.8f * c) * t, 0.8f * s);
  const float tilt_s = 0.84f, tilt_c = 0.5426f;
  return (float3)(p.x, p.y * tilt_c - p.z * tilt_s, p.y * tilt_s + p.z * tilt_c + 6);
}
float3 to_screen(float3 p) {
  const float scale = HEIGHT * 0.95f / p.z;
  return (float3)(WIDTH / 2 + p.x * scale, HEIGHT / 2 - p.y * scale, p.z);
}
float side(float3 a, float3 b, float x, float y) { return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x); }

kernel void clear(global ulong* restrict pixels) {
  const int i = get_global_id(0);
  if (i < WIDTH * HEIGHT) pixels[i] = ~0ul;
}

kernel void draw(volatile global ulong* restrict pixels, int pieces) {
  const int i = get_global_id(0);
  if (i >= pieces * pieces * 4) return;
  const int around = i / 2 % pieces, along = i / 2 / pieces, other = i % 2;
  const float3 p = corner(around + other, along + other, pieces), q = corner(around + 1, along, pieces),
               r = corner(around, along + 1, pieces);
  const float3 n = other ? cross(r - p, q - p) : cross(q - p, r - p);
  const float shade = fabs(n.x * 0.4f + n.y * 0.6f - n.z * 0.69f) * rsqrt(dot(n, n));
  const int tint = (along * 16 / pieces + around * 8 / pieces) % 2;
  const uint grey = (uint)(40 + 215 * shade), colour = grey << 16 | (tint ? grey : grey / 2) << 8 | grey / 3;

  const float3 a = to_screen(p), b = to_screen(q), c = to_screen(r);
  const float area = side(a, b, c.x, c.y);
  if (area == 0) return;
  const int x0 = max(0, (int)fmin(a.x, fmin(b.x, c.x))), x1 = min(WIDTH - 1, (int)fmax(a.x, fmax(b.x, c.x)));
  const int y0 = max(0, (int)fmin(a.y, fmin(b.y, c.y))), y1 = min(HEIGHT - 1, (int)fmax(a.y, fmax(b.y, c.y)));
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const float u = side(b, c, x + 0.5f, y + 0.5f) / area, v = side(c, a, x + 0.5f, y + 0.5f) / area, w = 1 - u - v;
      if (u < 0 || v < 0 || w < 0) continue;
      const float depth = u * a.z + v * b.z + w * c.z;
      atom_min(&pixels[y * WIDTH + x], (ulong)as_uint(depth) << 32 | colour);
    }
}
