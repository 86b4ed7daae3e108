// As in matmul.cu: a group computes a tile of BLOCK_X squared, an item a column of BLOCK_X / BLOCK_Y elements.
#define ROWS (BLOCK_X / BLOCK_Y)

kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1))) void multiply(global const float* restrict a,
                                                                                global const float* restrict b,
                                                                                global float* restrict c, int n) {
  local float ta[BLOCK_X][BLOCK_X], tb[BLOCK_X][BLOCK_X];
  const int x = get_local_id(0), y = get_local_id(1) * ROWS;
  const int column = get_group_id(0) * BLOCK_X + x, row = get_group_id(1) * BLOCK_X + y;
  float sum[ROWS];
  for (int r = 0; r < ROWS; ++r) sum[r] = 0;
  for (int k0 = 0; k0 < n; k0 += BLOCK_X) {
    for (int r = 0; r < ROWS; ++r) {
      ta[y + r][x] = row + r < n && k0 + x < n ? a[(row + r) * n + k0 + x] : 0;
      tb[y + r][x] = k0 + y + r < n && column < n ? b[(k0 + y + r) * n + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < BLOCK_X; ++k)
      for (int r = 0; r < ROWS; ++r) sum[r] += ta[y + r][k] * tb[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < ROWS; ++r)
    if (row + r < n && column < n) c[(row + r) * n + column] = sum[r];
}
