#include "cudart/stream.h"

#include <map>
#include <set>
#include <utility>

#include "cudart/programs.h"

namespace trine::cudart {
namespace {

// Never freed: destructors of the program's objects may still call.
std::mutex& streams_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
std::set<CUstream_st*>& streams() {
  static std::set<CUstream_st*>& all = *new std::set<CUstream_st*>;
  return all;
}

CUstream_st& default_stream(int device) {
  static std::map<int, CUstream_st>& all = *new std::map<int, CUstream_st>;
  const std::lock_guard lock(streams_mutex());
  CUstream_st& stream = all[device];
  if (!stream.handle) {
    stream.handle = machine().table->create_stream(device);
    stream.device = device;
    streams().insert(&stream);
  }
  return stream;
}

}  // namespace

CUstream_st& stream_of(cudaStream_t handle) {
  if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return default_stream(current_device());
  const std::lock_guard lock(streams_mutex());
  need(streams().contains(handle), cudaErrorInvalidResourceHandle);
  return *handle;
}

namespace {

void let_wait(CUstream_st& waiting, CUstream_st& other) {
  const auto& table = *machine().table;
  if (!other.order) other.order = table.create_event(other.device);
  table.record(other.device, other.order, other.handle);
  table.wait(waiting.device, waiting.handle, other.order);
}

}  // namespace

// On a GPU one stream waits for the other, not the host; on the CPU streams are never behind.
void wait_for_others(CUstream_st& stream) {
  if (!machine().gpu || stream.flags & cudaStreamNonBlocking) return;
  CUstream_st& common = default_stream(stream.device);
  const std::lock_guard lock(streams_mutex());
  if (&stream != &common) {
    if (std::exchange(stream.waited_for_default, common.given) != common.given) let_wait(stream, common);
  } else {
    for (CUstream_st* other : streams()) {
      if (other == &common || other->device != common.device || other->flags & cudaStreamNonBlocking) continue;
      if (std::exchange(other->default_waited_for, other->given) != other->given) let_wait(common, *other);
    }
  }
  ++stream.given;
}

CUgraphNode_st* submit(CUstream_st& stream, cudaGraphNodeType type, Operation operation) {
  if (stream.capture && stream.capture->open) {
    auto node = std::make_unique<CUgraphNode_st>();
    node->type = type;
    node->run = std::move(operation);
    node->graph = stream.capture->graph;
    auto& nodes = stream.capture->graph->nodes;
    if (!nodes.empty()) node->after.push_back(nodes.back().get());
    nodes.push_back(std::move(node));
    return nodes.back().get();
  }
  wait_for_others(stream);
  operation(stream.handle);
  return nullptr;
}

void synchronize(CUstream_st& stream) {
  need(!stream.capture || !stream.capture->open, cudaErrorStreamCaptureUnsupported);
  machine().table->synchronize(stream.device, stream.handle);
  fetch_managed(stream.device);
}

void synchronize_all() {
  std::vector<CUstream_st*> all;
  default_stream(current_device());
  {
    const std::lock_guard lock(streams_mutex());
    for (CUstream_st* stream : streams())
      if (stream->device == current_device()) all.push_back(stream);
  }
  for (CUstream_st* stream : all) synchronize(*stream);
}

void restart_streams() {
  const auto& table = *machine().table;
  const std::lock_guard lock(streams_mutex());
  for (CUstream_st* stream : streams()) {
    table.destroy_stream(stream->device, stream->handle);
    stream->handle = table.create_stream(stream->device);
  }
}

}  // namespace trine::cudart

using namespace trine::cudart;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return call([&] {
    need(out && flags <= cudaStreamNonBlocking);
    auto stream = std::make_unique<CUstream_st>();
    const auto& table = *machine().table;
    stream->device = current_device();
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    int given = -stream->priority;
    stream->handle = given && table.create_priority_stream ? table.create_priority_stream(stream->device, &given)
                                                           : table.create_stream(stream->device);
    const std::lock_guard lock(streams_mutex());
    streams().insert(stream.get());
    *out = stream.release();
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* out) { return cudaStreamCreateWithPriority(out, 0, 0); }

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] {
    need(priority);
    *priority = stream_of(stream).priority;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call([&] {
    need(flags);
    *flags = stream_of(stream).flags;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] {
    need(stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread, cudaErrorInvalidResourceHandle);
    CUstream_st& mine = stream_of(stream);
    {
      const std::lock_guard lock(streams_mutex());
      streams().erase(&mine);
    }
    if (mine.capture) mine.capture->open = false;
    if (mine.order) machine().table->destroy_event(mine.device, mine.order);
    machine().table->destroy_stream(mine.device, mine.handle);
    delete &mine;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] {
    CUstream_st& mine = stream_of(stream);
    wait_for_others(mine);
    synchronize(mine);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return query_call([&] {
    CUstream_st& mine = stream_of(stream);
    need(!mine.capture || !mine.capture->open, cudaErrorStreamCaptureUnsupported);
    wait_for_others(mine);
    const auto done = machine().table->stream_done;
    return !done || done(mine.device, mine.handle);
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call([&] {
    need(function);
    CUstream_st& mine = stream_of(stream);
    submit(mine, cudaGraphNodeTypeHost, [device = mine.device, function, data](trine::compute::StreamHandle on) {
      machine().table->call(device, on, function, data);
    });
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  struct Call {
    cudaStream_t stream;
    cudaStreamCallback_t function;
    void* data;
  };
  return call([&] {
    need(callback && flags == 0);
    CUstream_st& mine = stream_of(stream);
    need(!mine.capture || !mine.capture->open, cudaErrorStreamCaptureUnsupported);
    wait_for_others(mine);
    machine().table->call(
        mine.device, mine.handle,
        [](void* argument) {
          const std::unique_ptr<Call> made(static_cast<Call*>(argument));
          made->function(made->stream, cudaSuccess, made->data);
        },
        new Call{stream, callback, data});
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t, unsigned) {
  return call([&] {
    need(memory);
    stream_of(stream);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] { synchronize_all(); });
}
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
