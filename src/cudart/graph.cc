// Graphs: capture, nodes that are added one by one, and launches.
//
// A node that is added is captured from a stream of its own, so that it is checked and kept as in a capture.
#include <algorithm>
#include <map>

#include "compute/trace.h"
#include "cudart/driver_graph.h"
#include "cudart/launch.h"

namespace trine::cudart {
namespace {

using Dependencies = std::pair<const cudaGraphNode_t*, size_t>;

void check(cudaError_t error) {
  if (error != cudaSuccess) fail(error);
}

void run_all(const std::vector<Operation>& operations, compute::StreamHandle on) {
  for (const Operation& operation : operations) operation(on);
}

// What `body` gives to the stream becomes one node.
template <class Body>
CUgraphNode_st* add_node(cudaGraph_t graph, Dependencies after, const Body& body) {
  need(graph && (after.first || !after.second));
  for (size_t i = 0; i < after.second; ++i) need(after.first[i] && after.first[i]->graph == graph);
  const size_t before = graph->nodes.size();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  stream->capture = std::make_shared<Capture>(Capture{graph, stream});
  const cudaError_t error = body(stream);
  cudaStreamDestroy(stream);
  if (error != cudaSuccess) graph->nodes.resize(before);
  check(error);
  if (graph->nodes.size() == before) {  // nothing to do
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
    graph->nodes.back()->type = cudaGraphNodeTypeEmpty;
    graph->nodes.back()->graph = graph;
    graph->nodes.back()->run = [](compute::StreamHandle) {};
  }
  CUgraphNode_st* node = graph->nodes[before].get();
  if (graph->nodes.size() > before + 1) {
    std::vector<Operation> parts;
    for (size_t i = before; i < graph->nodes.size(); ++i) parts.push_back(graph->nodes[i]->run);
    node->run = [parts](compute::StreamHandle on) { run_all(parts, on); };
    graph->nodes.resize(before + 1);
  }
  node->after.assign(after.first, after.first + after.second);
  return node;
}

// Those that nothing keeps back come first, in the order in which they were added.
std::vector<CUgraphNode_st*> ordered(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> order;
  std::map<const CUgraphNode_st*, bool> done;
  while (order.size() < graph.nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : graph.nodes) {
      const bool ready = std::all_of(node->after.begin(), node->after.end(), [&](auto* other) { return done[other]; });
      if (done[node.get()] || !ready) continue;
      done[node.get()] = true;
      order.push_back(node.get());
    }
    need(order.size() > before);  // a circle
  }
  return order;
}

void set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams& p) {
  PreparedLaunch prepared = prepare({p.func, {dim_of(p.gridDim), dim_of(p.blockDim), p.sharedMemBytes, false}},
                                    p.kernelParams, current_device());
  node.run = prepared.run;
  node.function = p.func;
  node.launch = p;
  node.values = prepared.values;
}

void instantiate(CUgraphExec_st& exec, const CUgraph_st& graph) {
  exec = {};
  for (CUgraphNode_st* node : ordered(graph)) {
    exec.operations.push_back(node->run);
    exec.nodes.push_back(node);
    exec.types.push_back(node->type);
  }
}

const DriverGraph* driver_graph(CUgraphExec_st& exec, int device) {
  if (!exec.asked_driver) exec.driver = DriverGraph::make(device, exec.operations);
  exec.asked_driver = true;
  return exec.driver && exec.driver->device() == device ? exec.driver.get() : nullptr;
}

}  // namespace
}  // namespace trine::cudart

using namespace trine::cudart;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call([&] {
    need(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed);
    need(handle && handle != cudaStreamLegacy, cudaErrorStreamCaptureUnsupported);
    CUstream_st& stream = stream_of(handle);
    need(!stream.capture || !stream.capture->open, cudaErrorIllegalState);
    stream.capture = std::make_shared<Capture>(Capture{new CUgraph_st, &stream});
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* out) {
  return call([&] {
    need(out);
    CUstream_st& stream = stream_of(handle);
    need(stream.capture && stream.capture->open, cudaErrorIllegalState);
    need(stream.capture->origin == &stream, cudaErrorStreamCaptureUnmatched);
    stream.capture->open = false;
    *out = stream.capture->graph;
    stream.capture = nullptr;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* out) {
  return call([&] {
    need(out);
    const CUstream_st& mine = stream_of(stream);
    const bool open = mine.capture && mine.capture->open;
    *out = open ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  return call([&] {
    need(mode);
    std::swap(*mode, current);
  });
}

cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return call([&] {
    need(out && flags == 0);
    *out = new CUgraph_st;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] {
    need(graph);
    delete graph;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return call([&] {
    need(out && graph);
    auto copy = std::make_unique<CUgraph_st>();
    std::map<const CUgraphNode_st*, CUgraphNode_st*> twins;
    for (const auto& node : graph->nodes) {
      copy->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
      copy->nodes.back()->graph = copy.get();
      twins[node.get()] = copy->nodes.back().get();
    }
    for (const auto& node : copy->nodes)
      for (cudaGraphNode_t& other : node->after) other = twins.at(other);
    *out = copy.release();
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* p) {
  return call([&] {
    need(out && p);
    if (p->extra) fail(cudaErrorNotSupported, "kernel nodes with `extra`; give kernelParams");
    *out = add_node(graph, {after, count}, [](cudaStream_t) { return cudaSuccess; });
    (*out)->type = cudaGraphNodeTypeKernel;
    set_kernel(**out, *p);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* p) {
  return call([&] {
    need(out);
    *out = add_node(graph, {after, count}, [&](cudaStream_t stream) { return cudaMemcpy3DAsync(p, stream); });
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&] {
    need(out);
    *out = add_node(graph, {after, count},
                    [&](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* p) {
  return call([&] {
    need(out && p && (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4));
    const unsigned byte = p->value & 0xff, mask = p->elementSize == 4 ? 0xffffffffu : (1u << 8 * p->elementSize) - 1;
    if ((byte * 0x01010101u & mask) != (p->value & mask))
      fail(cudaErrorNotSupported, "memset nodes of values whose bytes differ");
    *out = add_node(graph, {after, count}, [&](cudaStream_t stream) {
      return cudaMemset2DAsync(p->dst, p->pitch, static_cast<int>(byte), p->width * p->elementSize, p->height, stream);
    });
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* p) {
  return call([&] {
    need(out && p);
    *out = add_node(graph, {after, count},
                    [&](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p->fn, p->userData); });
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count) {
  return call([&] {
    need(out);
    *out = add_node(graph, {after, count}, [](cudaStream_t) { return cudaSuccess; });
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return call([&] {
    need(out && child && child != graph);
    *out = add_node(graph, {after, count}, [](cudaStream_t) { return cudaSuccess; });
    CUgraphExec_st inner;
    instantiate(inner, *child);
    (*out)->type = cudaGraphNodeTypeGraph;
    (*out)->run = [parts = inner.operations](trine::compute::StreamHandle on) { run_all(parts, on); };
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  return call([&] {
    need(graph && (count == 0 || (from && to)));
    for (size_t i = 0; i < count; ++i) need(from[i] && to[i] && from[i]->graph == graph && to[i]->graph == graph);
    for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] {
    need(graph && count);
    if (nodes)
      for (size_t i = 0; i < *count; ++i) nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    *count = nodes ? std::min(*count, graph->nodes.size()) : graph->nodes.size();
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&] {
    need(node && type);
    *type = node->type;
  });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
  return call([&] {
    need(node && out && node->type == cudaGraphNodeTypeKernel);
    node->pointers.clear();
    for (auto& value : *node->values) node->pointers.push_back(value.data());
    *out = node->launch;
    out->kernelParams = node->pointers.data();
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return call([&] {
    need(node && p && node->type == cudaGraphNodeTypeKernel);
    set_kernel(*node, *p);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long) {
  return call([&] {
    need(out && graph);
    auto exec = std::make_unique<CUgraphExec_st>();
    instantiate(*exec, *graph);
    driver_graph(*exec, current_device());
    *out = exec.release();
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return call([&] {
    need(exec && node && p);
    const auto found = std::find(exec->nodes.begin(), exec->nodes.end(), node);
    need(found != exec->nodes.end() && node->type == cudaGraphNodeTypeKernel && p->func == node->function);
    CUgraphNode_st changed;
    set_kernel(changed, *p);
    exec->operations[static_cast<size_t>(found - exec->nodes.begin())] = changed.run;
    exec->asked_driver = false;  // the next launch makes another
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  return call([&] {
    need(exec && graph);
    CUgraphExec_st updated;
    instantiate(updated, *graph);
    const bool same = updated.types == exec->types;
    if (info) *info = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
    need(same, cudaErrorGraphExecUpdateFailure);
    *exec = std::move(updated);
  });
}
namespace {

// For a profiler.
class Replay {
 public:
  Replay(uint64_t kernels, std::string_view backend, int device, trine::compute::StreamHandle stream)
      : activity_(trine::compute::What::graph, backend, device, stream) {
    if (activity_.event()) activity_.event()->count = kernels;
  }

 private:
  trine::compute::Activity activity_;
};

}  // namespace

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return call([&] {
    need(exec);
    CUstream_st& stream = stream_of(handle);
    const auto kernels =
        static_cast<uint64_t>(std::count(exec->types.begin(), exec->types.end(), cudaGraphNodeTypeKernel));
    if (driver_graph(*exec, stream.device))
      submit(stream, cudaGraphNodeTypeGraph,
             [graph = exec->driver, kernels, device = stream.device](trine::compute::StreamHandle on) {
               const Replay replay(kernels, machine().table->name, device, on);
               graph->launch(on);
             });
    else
      submit(stream, cudaGraphNodeTypeGraph, [operations = exec->operations, kernels](trine::compute::StreamHandle on) {
        const Replay replay(kernels, "", 0, nullptr);  // of the host: its parts have times of their own
        run_all(operations, on);
      });
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] {
    need(exec);
    stream_of(stream);
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call([&] {
    need(exec);
    delete exec;
  });
}
