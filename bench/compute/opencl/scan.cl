// Sums of groups, their exclusive scan by one item, and a scan within each group; an item has a stretch of EACH.
#define EACH 8

kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void sum_groups(global const int* restrict in, int n,
                                                                            global int* restrict sums) {
  local int parts[BLOCK_X];
  const int lane = get_local_id(0), first = get_global_id(0) * EACH;
  int sum = 0;
  for (int i = first; i < min(n, first + EACH); ++i) sum += in[i];
  parts[lane] = sum;
  for (int half_size = BLOCK_X / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_size) parts[lane] += parts[lane + half_size];
  }
  if (lane == 0) sums[get_group_id(0)] = parts[0];
}

kernel void scan_sums(global int* restrict sums, int count) {
  int before = 0;
  for (int i = 0; i < count; ++i) {
    const int own = sums[i];
    sums[i] = before, before += own;
  }
}

kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void scan(global const int* restrict in,
                                                                      global int* restrict out, int n,
                                                                      global const int* restrict sums) {
  local int parts[BLOCK_X];
  const int lane = get_local_id(0), first = get_global_id(0) * EACH;
  int x[EACH], sum = 0;
  for (int i = 0; i < EACH; ++i) x[i] = sum += first + i < n ? in[first + i] : 0;
  parts[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < BLOCK_X; distance *= 2) {
    const int other = lane >= distance ? parts[lane - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    parts[lane] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int before = sums[get_group_id(0)] + parts[lane] - sum;
  for (int i = 0; i < EACH; ++i)
    if (first + i < n) out[first + i] = before + x[i];
}
