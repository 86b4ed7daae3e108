#define MOST 1000

kernel void draw(global int* restrict steps, int width, int height) {
  const int px = get_global_id(0), py = get_global_id(1);
  if (px >= width || py >= height) return;
  const float unit = 3.2f / width, cx = -0.6f + (px - 0.5f * width) * unit, cy = (py - 0.5f * height) * unit;
  float x = 0, y = 0;
  int n = 0;
  while (n < MOST && x * x + y * y <= 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++n;
  }
  steps[py * width + px] = n;
}
