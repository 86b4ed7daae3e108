#define DT 0.5f
#define LIFT 0.12f

// A grid is its width and height. Cells are three floats: velocity and smoke.
int index_of(int x, int y, int2 g) { return clamp(y, 0, g.y - 1) * g.x + clamp(x, 0, g.x - 1); }
bool is_wall(int x, int y, int2 g) { return x <= 0 || y <= 0 || x >= g.x - 1 || y >= g.y - 1; }

float3 between(global const float* cells, int2 g, float x, float y) {
  const float fx = floor(x), fy = floor(y);
  const int ix = fx, iy = fy;
  return mix(mix(vload3(index_of(ix, iy, g), cells), vload3(index_of(ix + 1, iy, g), cells), x - fx),
             mix(vload3(index_of(ix, iy + 1, g), cells), vload3(index_of(ix + 1, iy + 1, g), cells), x - fx), y - fy);
}

kernel void carry(global const float* restrict from, global float* restrict to, int2 g) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float3 here = vload3(index_of(x, y, g), from);
  float3 cell = between(from, g, x - DT * here.x, y - DT * here.y);
  const float dx = x + 0.5f - 0.5f * g.x, dy = y - 0.1f * g.x, radius = 0.05f * g.x;
  if (dx * dx + dy * dy < radius * radius) cell.z = 1;
  cell.y += DT * LIFT * cell.z;
  if (is_wall(x, y, g)) cell = (float3)(0);
  vstore3(cell, y * g.x + x, to);
}

kernel void relax(global const float* restrict cells, global const float* restrict from, global float* restrict to,
                  int2 g) {
  const int x = get_global_id(0), y = get_global_id(1);
  const int left = index_of(x - 1, y, g), right = index_of(x + 1, y, g), down = index_of(x, y - 1, g),
            up = index_of(x, y + 1, g);
  const float divergence = 0.5f * (cells[3 * right] - cells[3 * left] + cells[3 * up + 1] - cells[3 * down + 1]);
  to[y * g.x + x] = (from[left] + from[right] + from[down] + from[up] - divergence) * 0.25f;
}

kernel void project(global float* restrict cells, global const float* restrict pressure, int2 g) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (is_wall(x, y, g)) return;
  global float* cell = cells + 3 * (y * g.x + x);
  cell[0] -= 0.5f * (pressure[index_of(x + 1, y, g)] - pressure[index_of(x - 1, y, g)]);
  cell[1] -= 0.5f * (pressure[index_of(x, y + 1, g)] - pressure[index_of(x, y - 1, g)]);
}
