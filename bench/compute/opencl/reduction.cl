// Each item adds a stretch, the group its items' sums by halving.
kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void sum(global const float* restrict in, ulong n,
                                                                     global double* restrict out) {
  local double sums[BLOCK_X];
  const int lane = get_local_id(0);
  double mine = 0;
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) mine += in[i];
  sums[lane] = mine;
  for (int half_size = BLOCK_X / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_size) sums[lane] += sums[lane + half_size];
  }
  if (lane == 0) out[get_group_id(0)] = sums[0];
}

kernel void add_sums(global const double* restrict sums, int count, global double* restrict out) {
  double all = 0;
  for (int i = 0; i < count; ++i) all += sums[i];
  out[0] = all;
}
