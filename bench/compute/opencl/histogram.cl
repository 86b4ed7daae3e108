kernel void count(global const uint* restrict words, ulong n, global uint* restrict bins) {
  local uint mine[256];
  for (int i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
    const uint word = words[i];
    for (int b = 0; b < 4; ++b) atomic_inc(&mine[word >> (8 * b) & 255]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], mine[i]);
}
