// Cooperative groups: blocks, tiles and the whole grid.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sums(int* x, int* out, int n) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int i = static_cast<int>(grid.thread_rank());
  if (i < n) x[i] = i;
  grid.sync();
  int mine = i < n ? x[n - 1 - i] : 0;  // of another block
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) mine += tile.shfl_down(mine, offset);
  if (tile.thread_rank() == 0) atomicAdd(out, mine);
}

int main() {
  int n = 500, *x, *out, got = -1;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  void* arguments[] = {&x, &out, &n};
  if (cudaLaunchCooperativeKernel((void*)sums, dim3(4), dim3(128), arguments, 0, nullptr) != cudaSuccess) return 1;
  if (cudaMemcpy(&got, out, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  if (got != n * (n - 1) / 2) {
    printf("%d\n", got);
    return 3;
  }
  if (cudaLaunchCooperativeKernel((void*)sums, dim3(1 << 20), dim3(128), arguments, 0, nullptr) !=
      cudaErrorCooperativeLaunchTooLarge)
    return 4;
  printf("passed\n");
}
