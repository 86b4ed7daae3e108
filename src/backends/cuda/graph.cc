// Captures, which the driver makes into graphs.
#include <map>
#include <utility>

#include "backends/cuda/stream.h"

namespace trine::cuda {
namespace {

// Host calls of a capture that is under way.
struct OpenCapture {
  std::shared_ptr<Thrown> thrown = std::make_shared<Thrown>();
  std::vector<std::unique_ptr<HostCall>> calls;
};

std::mutex open_mutex;
std::map<uint64_t, OpenCapture>& open_captures() {  // by the driver's number of the capture
  static std::map<uint64_t, OpenCapture> captures;
  return captures;
}

struct CaptureInfo {
  int status = 0;
  uint64_t id = 0;
  GraphNode last = nullptr;  // null: none, or several
};

CaptureInfo info_of(StreamId stream) {
  CaptureInfo info;
  const GraphNode* last = nullptr;
  size_t count = 0;
  GraphId graph = nullptr;
  check(api().capture_info(stream, &info.status, &info.id, &graph, &last, &count), "cuStreamGetCaptureInfo");
  if (info.status == kCaptureActive && count == 1) info.last = last[0];
  return info;
}

OpenCapture take_capture(uint64_t id) {
  const std::lock_guard lock(open_mutex);
  OpenCapture capture = std::move(open_captures()[id]);
  open_captures().erase(id);
  return capture;
}

void begin_capture(int index, compute::StreamHandle stream) {
  const DeviceContext& device = use_device(index);
  check(api().capture_begin(id_of(stream), kCaptureRelaxed), "cuStreamBeginCapture", last_kernel_on(device, stream));
}

void destroy(int, compute::GraphHandle handle) {
  const std::unique_ptr<Graph> graph(static_cast<Graph*>(handle));
  if (graph->exec) api().graph_exec_destroy(graph->exec);
  if (graph->id) api().graph_destroy(graph->id);
}

compute::GraphHandle end_capture(int index, compute::StreamHandle stream) {
  const DeviceContext& device = use_device(index);
  OpenCapture capture = take_capture(info_of(id_of(stream)).id);
  auto graph = std::make_unique<Graph>();
  graph->thrown = std::move(capture.thrown);
  graph->calls = std::move(capture.calls);
  graph->last_kernel = last_kernel_on(device, stream);
  const Result ended = api().capture_end(id_of(stream), &graph->id);
  Result ready = ended;
  if (ended == kSuccess) ready = api().graph_instantiate(&graph->exec, graph->id, 0);
  if (ready == kSuccess) return graph.release();
  destroy(index, graph.release());
  if (ended == kCaptureUnjoined) check(ended, "end_capture: a stream that joined was not waited for");
  check(ready, ended == kSuccess ? "cuGraphInstantiate" : "cuStreamEndCapture");
  return nullptr;
}

void abort_capture(int, compute::StreamHandle stream) {
  int status = 0;
  uint64_t id = 0;
  const GraphNode* last = nullptr;
  size_t count = 0;
  GraphId graph = nullptr;
  if (api().capture_info(id_of(stream), &status, &id, &graph, &last, &count) == kSuccess) take_capture(id);
  GraphId ended = nullptr;
  if (api().capture_end(id_of(stream), &ended) == kSuccess && ended) api().graph_destroy(ended);
}

void* last_operation(int index, compute::StreamHandle stream) {
  use_device(index);
  return info_of(id_of(stream)).last;
}

bool is_capturing(int index, compute::StreamHandle stream) {
  use_device(index);
  return info_of(id_of(stream)).status == kCaptureActive;
}

void launch(int index, compute::GraphHandle handle, compute::StreamHandle stream) {
  DeviceContext& device = use_device(index);
  Graph& graph = *static_cast<Graph*>(handle);
  check(api().graph_launch(graph.exec, id_of(stream)), "cuGraphLaunch", last_kernel_on(device, stream));
  if (!stream) return;
  Stream& on = *stream_of(stream);
  if (graph.last_kernel) on.last_kernel = graph.last_kernel;
  if (!graph.calls.empty() && (on.of_graphs.empty() || on.of_graphs.back() != graph.thrown))
    on.of_graphs.push_back(graph.thrown);
}

}  // namespace

HostCall* captured_call(StreamId stream, void (*function)(void*), void* argument) {
  const CaptureInfo info = info_of(stream);
  if (info.status != kCaptureActive) return nullptr;
  const std::lock_guard lock(open_mutex);
  OpenCapture& capture = open_captures()[info.id];
  capture.calls.push_back(std::make_unique<HostCall>(HostCall{function, argument, capture.thrown}));
  return capture.calls.back().get();
}

const compute::GraphTable kGraphs = {begin_capture, end_capture, abort_capture, last_operation,
                                     launch,        destroy,     is_capturing};

}  // namespace trine::cuda
