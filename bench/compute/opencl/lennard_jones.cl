#define CUTOFF 2.5f

typedef struct {
  int atoms;
  float length;
  int cells;
} Box;

float nearest_image(float d, float length) { return d - length * rint(d / length); }

kernel void forces(global const float4* restrict position, global float4* restrict force,
                   global const int* restrict first, Box box) {
  const int i = get_global_id(0);
  if (i >= box.atoms) return;
  const float4 p = position[i];
  const int cx = as_int(p.w) % box.cells, cy = as_int(p.w) / box.cells % box.cells,
            cz = as_int(p.w) / (box.cells * box.cells);
  float4 f = (float4)(0);
  for (int n = 0; n < 27; ++n) {
    const int x = (cx + n % 3 + box.cells - 1) % box.cells, y = (cy + n / 3 % 3 + box.cells - 1) % box.cells,
              z = (cz + n / 9 + box.cells - 1) % box.cells, cell = (z * box.cells + y) * box.cells + x;
    for (int j = first[cell]; j < first[cell + 1]; ++j) {
      const float4 o = position[j];
      const float dx = nearest_image(p.x - o.x, box.length), dy = nearest_image(p.y - o.y, box.length),
                  dz = nearest_image(p.z - o.z, box.length), r2 = dx * dx + dy * dy + dz * dz;
      if (j == i || r2 >= CUTOFF * CUTOFF) continue;
      const float s2 = 1 / r2, s6 = s2 * s2 * s2, pull = 48 * s6 * (s6 - 0.5f) * s2;
      f.x += pull * dx, f.y += pull * dy, f.z += pull * dz;
      f.w += 2 * s6 * (s6 - 1);
    }
  }
  force[i] = f;
}
