// A graph of nodes that are added one by one: memset, copies, kernels, a call of the host, a graph within; changed
// after it was made, and updated from another.
#include <cstdio>

#define CHECK(what) \
  if (!(what)) return printf("failed: %s, line %d: %s\n", #what, __LINE__, cudaGetErrorString(cudaGetLastError())), 1
#define OK(call) CHECK((call) == cudaSuccess)

constexpr int n = 64;

__global__ void add(int* x, int amount) { x[threadIdx.x] += amount; }

void CUDART_CB count(void* calls) { ++*static_cast<int*>(calls); }

// memset to 0, input -> x, x += amount, x -> output, count
int build(cudaGraph_t* graph, int* x, int* input, int* output, int amount, int* calls, cudaGraphNode_t* kernel) {
  cudaGraphNode_t clear, in, out, host;
  OK(cudaGraphCreate(graph, 0));
  cudaMemsetParams fill = {};
  fill.dst = x;
  fill.elementSize = sizeof(int);
  fill.width = n;
  fill.height = 1;
  OK(cudaGraphAddMemsetNode(&clear, *graph, nullptr, 0, &fill));
  OK(cudaGraphAddMemcpyNode1D(&in, *graph, &clear, 1, x, input, n / 2 * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&x, &amount};
  cudaKernelNodeParams launch = {};
  launch.func = (void*)add;
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(n);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(kernel, *graph, &in, 1, &launch));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(x, n * sizeof(int), n, 1);
  copy.dstPtr = make_cudaPitchedPtr(output, n * sizeof(int), n, 1);
  copy.extent = make_cudaExtent(n * sizeof(int), 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaGraphAddMemcpyNode(&out, *graph, kernel, 1, &copy));
  cudaHostNodeParams call = {count, calls};
  OK(cudaGraphAddHostNode(&host, *graph, &out, 1, &call));
  return 0;
}

bool holds(const int* output, int amount) {
  for (int i = 0; i < n; ++i)
    if (output[i] != (i < n / 2 ? i : 0) + amount) return false;
  return true;
}

int main() {
  int *x, *input, *output, calls = 0, least, greatest;
  OK(cudaMalloc(&x, n * sizeof(int)));
  OK(cudaMallocHost(&input, n * sizeof(int)));
  OK(cudaMallocHost(&output, n * sizeof(int)));
  for (int i = 0; i < n; ++i) input[i] = i;
  cudaStream_t stream;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  cudaGraph_t graph, other;
  cudaGraphNode_t kernel, kernel_of_other;
  if (build(&graph, x, input, output, 5, &calls, &kernel)) return 1;
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 5);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(holds(output, 5) && calls == round);
  }
  int amount = 9;
  void* arguments[] = {&x, &amount};
  cudaKernelNodeParams launch = {};
  OK(cudaGraphKernelNodeGetParams(kernel, &launch));
  CHECK(launch.func == (void*)add && launch.blockDim.x == n && *static_cast<int*>(launch.kernelParams[1]) == 5);
  launch.kernelParams = arguments;
  OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(holds(output, 9));

  if (build(&other, x, input, output, 21, &calls, &kernel_of_other)) return 1;
  cudaGraphExecUpdateResultInfo result;
  OK(cudaGraphExecUpdate(exec, other, &result));
  CHECK(result.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(holds(output, 21) && calls == 5);

  cudaGraph_t outer;  // the graph twice, one after the other
  cudaGraphNode_t first, second;
  cudaGraphExec_t both;
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, graph));
  OK(cudaGraphAddChildGraphNode(&second, outer, &first, 1, other));
  OK(cudaGraphInstantiate(&both, outer));
  OK(cudaGraphLaunch(both, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(holds(output, 21) && calls == 7);
  CHECK(cudaGraphExecUpdate(exec, outer, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);  // which is not kept
  OK(cudaGraphExecDestroy(both));
  OK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t g : {outer, other, graph}) OK(cudaGraphDestroy(g));
  OK(cudaStreamDestroy(stream));
  cudaFreeHost(input);
  cudaFreeHost(output);
  cudaFree(x);
  printf("passed\n");
}
