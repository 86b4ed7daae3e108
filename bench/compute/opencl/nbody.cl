#define SOFTENING 1e-2f

kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void advance(global const float4* restrict from,
                                                                      global float4* restrict to,
                                                                      global float4* restrict velocity, int n, float dt) {
  local float4 tile[BLOCK_X];
  const int lane = get_local_id(0), i = get_global_id(0);
  const float4 body = i < n ? from[i] : (float4)(0);
  float3 a = (float3)(0);
  for (int first = 0; first < n; first += BLOCK_X) {
    tile[lane] = first + lane < n ? from[first + lane] : (float4)(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < BLOCK_X; ++k) {
      const float4 other = tile[k];
      const float x = other.x - body.x, y = other.y - body.y, z = other.z - body.z;
      const float inverse = rsqrt(x * x + y * y + z * z + SOFTENING * SOFTENING);
      const float pull = other.w * inverse * inverse * inverse;
      a.x += pull * x, a.y += pull * y, a.z += pull * z;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += a.x * dt, v.y += a.y * dt, v.z += a.z * dt;
  velocity[i] = v;
  to[i] = (float4)(body.x + v.x * dt, body.y + v.y * dt, body.z + v.z * dt, body.w);
}
