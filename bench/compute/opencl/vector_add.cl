kernel void add(global const float* restrict a, global const float* restrict b, global float* restrict c, ulong n) {
  const size_t i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
