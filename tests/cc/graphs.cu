// Graphs: captured from two streams, and built of nodes.
#include <cstdio>

__global__ void add(int* x, int by) { x[threadIdx.x] += by; }

int main() {
  int *x, host[32];
  cudaMalloc(&x, sizeof host);
  cudaStream_t a, b;
  cudaEvent_t forked, joined;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&forked);
  cudaEventCreate(&joined);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMemset(x, 0, sizeof host);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, a>>>(x, 1);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  add<<<1, 32, 0, b>>>(x, 2);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined);
  cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, a);
  if (cudaStreamEndCapture(a, &graph) != cudaSuccess) return 1;
  size_t nodes = 0;
  if (cudaGraphGetNodes(graph, nullptr, &nodes) != cudaSuccess || nodes != 3) return 2;
  if (cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) != cudaSuccess) return 3;
  for (int i = 0; i < 5; ++i) cudaGraphLaunch(exec, a);
  if (cudaStreamSynchronize(a) != cudaSuccess || host[31] != 15) return 4;
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);

  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t clear, first, second, read;
  cudaMemsetParams fill = {x, 0, 0, 4, 32, 1};
  if (cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill) != cudaSuccess) return 5;
  int one = 1, ten = 10;
  void *arguments[] = {&x, &one}, *others[] = {&x, &ten};
  cudaKernelNodeParams launch = {};
  launch.func = (void*)add;
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  if (cudaGraphAddKernelNode(&first, graph, &clear, 1, &launch) != cudaSuccess) return 6;
  if (cudaGraphAddKernelNode(&second, graph, &first, 1, &launch) != cudaSuccess) return 7;
  if (cudaGraphAddMemcpyNode1D(&read, graph, &second, 1, host, x, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 8;
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return 9;
  cudaGraphLaunch(exec, a);
  cudaStreamSynchronize(a);
  if (host[0] != 2) return 10;
  launch.kernelParams = others;
  if (cudaGraphExecKernelNodeSetParams(exec, second, &launch) != cudaSuccess) return 11;
  cudaGraphLaunch(exec, a);
  cudaStreamSynchronize(a);
  if (host[0] != 11) return 12;
  printf("passed\n");
}
