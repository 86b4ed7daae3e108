#define RADIUS 4

float at(global const float* p, int x, int y, int width, int height) {
  return p[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}
float bell(float x) { return exp(-x * x / (2 * 2.0f * 2.0f)); }

float blurred(global const float* p, int x, int y, int dx, int dy, int width, int height) {
  float sum = 0, weights = 0;
  for (int i = -RADIUS; i <= RADIUS; ++i) {
    const float w = bell(i);
    sum += w * at(p, x + i * dx, y + i * dy, width, height), weights += w;
  }
  return sum / weights;
}

kernel void blur_rows(global const float* restrict from, global float* restrict to, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) to[y * width + x] = blurred(from, x, y, 1, 0, width, height);
}

kernel void blur_columns(global const float* restrict from, global float* restrict to, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) to[y * width + x] = blurred(from, x, y, 0, 1, width, height);
}

kernel void sobel(global const float* restrict p, global float* restrict to, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
#define AT(i, j) at(p, x + i, y + j, width, height)
  const float gx = AT(1, -1) + 2 * AT(1, 0) + AT(1, 1) - AT(-1, -1) - 2 * AT(-1, 0) - AT(-1, 1);
  const float gy = AT(-1, 1) + 2 * AT(0, 1) + AT(1, 1) - AT(-1, -1) - 2 * AT(0, -1) - AT(1, -1);
  to[y * width + x] = sqrt(gx * gx + gy * gy);
}

kernel void bilateral(global const float* restrict p, global float* restrict to, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const float here = AT(0, 0);
  float sum = 0, weights = 0;
  for (int j = -RADIUS; j <= RADIUS; ++j)
    for (int i = -RADIUS; i <= RADIUS; ++i) {
      const float other = AT(i, j), unlike = (other - here) * 10;
      const float w = bell(i) * bell(j) * exp(-unlike * unlike / 2);
      sum += w * other, weights += w;
    }
  to[y * width + x] = sum / weights;
}
