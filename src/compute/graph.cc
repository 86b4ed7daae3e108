// Graphs: of the device where it records streams itself, else a list of operations that launch() goes through.
#include "trine/compute/graph.h"

#include <fmt/format.h>

#include "compute/captured_launch.h"
#include "compute/device_state.h"
#include "compute/stream_submit.h"
#include "compute/trace.h"
#include "trine/base/error.h"

namespace trine::compute {

struct Graph::State {
  Device device;
  std::shared_ptr<Capture> capture;
  GraphHandle handle = nullptr;
  int index = 0;

  ~State() {
    if (handle) capture->by->destroy(index, handle);
  }
};

namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

}  // namespace

void* Stream::native() const {
  const Device::State& device = *device_.state_;
  return device.table->native_stream ? device.table->native_stream(device.index, handle_) : nullptr;
}

void Stream::begin_capture() {
  if (capturing()) bad("begin_capture: the stream is being captured; call end_capture() first");
  const Device::State& device = *device_.state_;
  const GraphTable* by = device.table->graphs;
  if (by) by->begin_capture(device.index, handle_);
  capture_ = std::make_shared<Capture>(Capture{.origin = handle_, .by = by});
}

Graph Stream::end_capture() {
  if (!capturing()) bad("end_capture: the stream is not being captured; call begin_capture() first");
  if (capture_->origin != handle_) bad("end_capture: the stream joined a capture; end it on the stream where it began");
  const std::shared_ptr<Capture> capture = std::exchange(capture_, nullptr);
  capture->open = false;
  auto state = std::make_shared<Graph::State>(Graph::State{device_, capture, nullptr, device_.state_->index});
  if (capture->by) state->handle = capture->by->end_capture(state->index, handle_);
  return Graph(std::move(state));
}

void Graph::launch(Stream& stream) const {
  const Device::State &mine = *state_->device.state_, &theirs = *stream.device_.state_;
  if (mine.table != theirs.table || mine.index != theirs.index)
    bad("launch: the stream is of another device; give one of the device that was captured");
  if (stream.capturing()) bad("launch: a graph cannot be launched in a capture; call end_capture() first");
  const Capture& capture = *state_->capture;
  const Activity activity(What::graph, mine.table->name, mine.index, stream.handle_);
  if (TraceEvent* event = activity.event()) event->count = capture.kernels.size();
  if (capture.by) return capture.by->launch(state_->index, state_->handle, stream.handle_);
  for (const auto& operation : capture.operations) operation(stream.handle_);
}

size_t Graph::kernels() const { return state_->capture->kernels.size(); }

void Graph::update_raw(size_t index, const LaunchShape& shape, const void* const* arguments, const uint32_t* bytes,
                       size_t count) {
  if (index >= kernels())
    bad(fmt::format("update: kernel {} of a graph of {}; accepted are those below", index, kernels()));
  CapturedLaunch& launch = *state_->capture->kernels[index];
  check_launch(launch.kernel->properties, shape, bytes, count);
  const KernelTable& table = *launch.kernel->module->table;
  if (state_->handle) table.update(state_->handle, launch.operation, launch.kernel->handle, shape, arguments);
  launch.set(shape, arguments);
}

}  // namespace trine::compute
