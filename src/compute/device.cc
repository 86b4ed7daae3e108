#include "trine/compute/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "compute/device_state.h"
#include "compute/stream_submit.h"
#include "trine/base/error.h"

namespace trine::compute {

namespace {

DeviceInfo info_of(const BackendTable& table, int index) {
  const DeviceProperties p = table.properties(index);
  const std::string id = table.device_count() > 1 || table.name == "cuda" ? fmt::format("{}:{}", table.name, index)
                                                                          : std::string(table.name);
  return {id, p.name, p.architecture, p.memory_bytes, p.compute_units, p.unified_memory};
}

[[noreturn]] void no_device(const std::string& id, const BackendTable* table) {
  std::vector<std::string> have;
  for (const DeviceInfo& d : devices()) have.push_back(d.id);
  std::string why = table && table->why_none ? table->why_none() : "";
  if (!why.empty()) why = ": " + why;
  throw Error(ErrorCode::device,
              fmt::format("device '{}': not here{}; devices are {}", id, why, fmt::join(have, ", ")));
}

[[noreturn]] void bad(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

void need_inside(const Buffer& buffer, size_t offset, size_t bytes, const char* what) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    bad(fmt::format("{}: {} bytes at {} in a buffer of {} bytes; they must lie within it", what, bytes, offset,
                    buffer.bytes()));
}

struct Copy {
  const Device::State* device;
  void* to;
  const void* from;
  size_t bytes;
  CopyKind kind;
  void operator()(StreamHandle stream) const { device->table->copy(device->index, to, from, bytes, kind, stream); }
};

// Strides that were left out, and whether all lies inside.
Pitched laid_out(Pitched p, const Extent& extent, const char* what) {
  if (!p.row_bytes) p.row_bytes = extent.width_bytes;
  if (!p.slice_bytes) p.slice_bytes = p.row_bytes * extent.rows;
  if (p.row_bytes < extent.width_bytes)
    bad(fmt::format("copy: rows of {} that lie {} bytes apart for {} bytes each; they must not overlap", what,
                    p.row_bytes, extent.width_bytes));
  if (p.slice_bytes < p.row_bytes * extent.rows || p.slice_bytes % p.row_bytes)
    bad(fmt::format(
        "copy: slices of {} that lie {} bytes apart for {} rows of {}; accepted are multiples of a row that "
        "hold all of them",
        what, p.slice_bytes, extent.rows, p.row_bytes));
  size_t last = 0, rows = 0;
  const bool overflow = __builtin_mul_overflow(extent.slices - 1, p.slice_bytes, &last) ||
                        __builtin_mul_overflow(extent.rows - 1, p.row_bytes, &rows) ||
                        __builtin_add_overflow(last, rows, &last) ||
                        __builtin_add_overflow(last, extent.width_bytes, &last);
  if (overflow || last > p.bytes)
    bad(fmt::format("copy: {} x {} x {} bytes end at {} of {}; there are {}", extent.slices, extent.rows,
                    extent.width_bytes, last, what, p.bytes));
  return p;
}

void copy_rows(const Device::State& device, const PitchedCopy& c, StreamHandle stream) {
  if (device.table->copy_pitched) return device.table->copy_pitched(device.index, c, stream);
  for (size_t z = 0; z < c.extent.slices; ++z)
    for (size_t y = 0; y < c.extent.rows; ++y)
      device.table->copy(device.index, static_cast<char*>(c.to.data) + z * c.to.slice_bytes + y * c.to.row_bytes,
                         static_cast<const char*>(c.from.data) + z * c.from.slice_bytes + y * c.from.row_bytes,
                         c.extent.width_bytes, c.kind, stream);
}

char* at(const Buffer& buffer, size_t offset) { return static_cast<char*>(buffer.data()) + offset; }

}  // namespace

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> out;
  for (const BackendTable* table : all_backends())
    for (int i = 0; i < table->device_count(); ++i) out.push_back(info_of(*table, i));
  return out;
}

Device Device::open(const std::string& id) {
  const size_t colon = id.find(':');
  const BackendTable* table = find_backend(id.substr(0, colon));
  int index = 0;
  if (colon != std::string::npos) {
    const char* last = id.data() + id.size();
    if (const auto r = std::from_chars(id.data() + colon + 1, last, index); r.ec != std::errc() || r.ptr != last)
      no_device(id, nullptr);
  }
  if (!table || index < 0 || index >= table->device_count()) no_device(id, table);
  return Device(std::make_shared<const State>(State{table, index}));
}

DeviceInfo Device::info() const { return info_of(*state_->table, state_->index); }

DeviceLimits Device::limits() const {
  return state_->table->limits ? state_->table->limits(state_->index) : DeviceLimits{};
}

size_t Device::free_bytes() const {
  const BackendTable& table = *state_->table;
  return table.free_bytes ? table.free_bytes(state_->index) : table.properties(state_->index).memory_bytes;
}

void Device::trim_pool(size_t keep_bytes) const {
  if (state_->table->trim_pool) state_->table->trim_pool(state_->index, keep_bytes);
}

Buffer Device::allocate(size_t bytes) const {
  return Buffer(*this, bytes ? state_->table->allocate(state_->index, bytes) : nullptr, bytes);
}

HostBuffer Device::allocate_host(size_t bytes) const {
  const auto allocate = state_->table->allocate_host ? state_->table->allocate_host : state_->table->allocate;
  return HostBuffer(*this, bytes ? allocate(state_->index, bytes) : nullptr, bytes, false);
}

HostBuffer Device::register_host(void* memory, size_t bytes, bool read_only) const {
  if (!memory && bytes) throw Error(ErrorCode::invalid_argument, "register_host: null; memory is accepted");
  if (bytes && state_->table->register_host) state_->table->register_host(state_->index, memory, bytes, read_only);
  return HostBuffer(*this, bytes ? memory : nullptr, bytes, true);
}

Stream Device::create_stream(int priority) const {
  const BackendTable& table = *state_->table;
  if (priority == 0 || !table.create_priority_stream) return Stream(*this, table.create_stream(state_->index), 0);
  void* handle = table.create_priority_stream(state_->index, &priority);
  return Stream(*this, handle, priority);
}

Event Device::create_event() const { return Event(*this, state_->table->create_event(state_->index)); }

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      stream_(other.stream_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(stream_, other.stream_);
  return *this;
}

Buffer::~Buffer() {
  if (!data_) return;
  const Device::State& device = *device_.state_;
  if (stream_) device.table->free_ordered(device.index, data_, stream_);
  else device.table->free(device.index, data_);
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      registered_(other.registered_) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(registered_, other.registered_);
  return *this;
}

HostBuffer::~HostBuffer() {
  if (!data_) return;
  const BackendTable& table = *device_.state_->table;
  if (registered_) {
    if (table.unregister_host) table.unregister_host(device_.state_->index, data_);
    return;
  }
  (table.allocate_host ? table.free_host : table.free)(device_.state_->index, data_);
}

void* HostBuffer::device_data() const {
  const Device::State& device = *device_.state_;
  return data_ && device.table->host_address ? device.table->host_address(device.index, data_) : data_;
}

Stream::Stream(Stream&& other) noexcept
    : device_(other.device_),
      handle_(std::exchange(other.handle_, nullptr)),
      priority_(other.priority_),
      capture_(std::move(other.capture_)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(priority_, other.priority_);
  std::swap(capture_, other.capture_);
  return *this;
}

Stream::~Stream() {
  if (!handle_) return;
  if (capturing() && capture_->origin == handle_) {
    capture_->open = false;
    if (capture_->by) capture_->by->abort_capture(device_.state_->index, handle_);
  }
  device_.state_->table->destroy_stream(device_.state_->index, handle_);
}

bool Stream::capturing() const { return capture_ && capture_->open; }

void Stream::upload(const Buffer& to, size_t offset, const void* from, size_t bytes) {
  need_inside(to, offset, bytes, "upload");
  upload(at(to, offset), from, bytes);
}

void Stream::upload(void* to_device, const void* from, size_t bytes) {
  submit(Copy{device_.state_.get(), to_device, from, bytes, CopyKind::host_to_device});
}

void Stream::download(void* to, const Buffer& from, size_t offset, size_t bytes) {
  need_inside(from, offset, bytes, "download");
  download(to, at(from, offset), bytes);
}

void Stream::download(void* to, const void* from_device, size_t bytes) {
  submit(Copy{device_.state_.get(), to, from_device, bytes, CopyKind::device_to_host});
}

void Stream::copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset, size_t bytes) {
  need_inside(to, to_offset, bytes, "copy");
  need_inside(from, from_offset, bytes, "copy");
  const Device::State &mine = *device_.state_, &there = *to.device_.state_, &origin = *from.device_.state_;
  if (there.table != origin.table) {
    const bool up = origin.table->properties(origin.index).unified_memory;
    if (!up && !there.table->properties(there.index).unified_memory)
      bad(fmt::format("copy: from a device of {} to one of {}; download and upload", origin.table->name,
                      there.table->name));
    const Device::State& does = up ? there : origin;  // the CPU's memory is the host's
    if (mine.table != does.table || mine.index != does.index)
      bad(fmt::format("copy: the stream is of {} {}, the buffers of {} {} and the host; give a stream of that device",
                      mine.table->name, mine.index, does.table->name, does.index));
    if (up) return upload(at(to, to_offset), at(from, from_offset), bytes);
    return download(at(to, to_offset), at(from, from_offset), bytes);
  }
  if (mine.table != there.table)
    bad(fmt::format("copy: the buffers are of {}, the stream of {}; give a stream of theirs", there.table->name,
                    mine.table->name));
  if (there.index == origin.index || !mine.table->copy_peer)
    return submit(Copy{&mine, at(to, to_offset), at(from, from_offset), bytes, CopyKind::device_to_device});
  submit([device = &mine, to_index = there.index, from_index = origin.index, target = at(to, to_offset),
          source = at(from, from_offset), bytes](StreamHandle stream) {
    device->table->copy_peer(device->index, target, to_index, source, from_index, bytes, stream);
  });
}

void Stream::copy(const Pitched& to, const Pitched& from, const Extent& extent, CopyKind kind) {
  if (!extent.width_bytes || !extent.rows || !extent.slices) return;
  const PitchedCopy copy{laid_out(to, extent, "the target"), laid_out(from, extent, "the source"), extent, kind};
  submit([device = device_.state_.get(), copy](StreamHandle stream) { copy_rows(*device, copy, stream); });
}

void Stream::fill(const Buffer& buffer, uint8_t value) { fill(buffer, 0, buffer.bytes(), value); }

void Stream::fill(const Buffer& buffer, size_t offset, size_t bytes, uint8_t value) {
  need_inside(buffer, offset, bytes, "fill");
  submit([device = device_.state_.get(), data = at(buffer, offset), bytes, value](StreamHandle stream) {
    device->table->fill(device->index, data, value, bytes, stream);
  });
}

bool Stream::done() const {
  if (capturing()) bad("done: the stream is being captured; call end_capture() first");
  const Device::State& device = *device_.state_;
  return !device.table->stream_done || device.table->stream_done(device.index, handle_);
}

// In a capture kept as a list, events need nothing: its order is the order of all its streams.
void Stream::record(const Event& event) {
  event.capture_ = capturing() ? capture_ : nullptr;
  if (event.capture_ && !event.capture_->by) return;
  device_.state_->table->record(device_.state_->index, event.handle_, handle_);
}

void Stream::wait(const Event& event) {
  if (capturing() && event.capture_ != capture_)
    bad("wait: the stream is captured and the event is not; record the event in the same capture");
  if (event.capture_ && !event.capture_->open) bad("wait: the event is of a capture that has ended; record it again");
  capture_ = event.capture_;  // it joins
  if (capture_ && !capture_->by) return;
  device_.state_->table->wait(device_.state_->index, handle_, event.handle_);
}

void Stream::synchronize() {
  if (capturing()) bad("synchronize: the stream is being captured; call end_capture() first");
  device_.state_->table->synchronize(device_.state_->index, handle_);
}

Buffer Stream::allocate(size_t bytes) {
  if (capturing()) bad("allocate: the stream is being captured; allocate before begin_capture()");
  const Device::State& device = *device_.state_;
  if (!bytes || !device.table->allocate_ordered) return device_.allocate(bytes);
  return Buffer(device_, device.table->allocate_ordered(device.index, bytes, handle_), bytes, handle_);
}

void Stream::call(std::function<void()> function) {
  using Function = std::function<void()>;
  const Device::State* device = device_.state_.get();
  if (!capturing()) {
    const auto run = [](void* p) {
      const std::unique_ptr<Function> f(static_cast<Function*>(p));
      (*f)();
    };
    return device->table->call(device->index, handle_, run, new Function(std::move(function)));
  }
  const auto held = std::make_shared<Function>(std::move(function));
  capture_->held.push_back(held);
  submit([device, f = held.get()](StreamHandle stream) {
    const auto run = [](void* p) { (*static_cast<Function*>(p))(); };
    device->table->call(device->index, stream, run, f);
  });
}

Event::Event(Event&& other) noexcept
    : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)), capture_(std::move(other.capture_)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(capture_, other.capture_);
  return *this;
}

Event::~Event() {
  if (handle_) device_.state_->table->destroy_event(device_.state_->index, handle_);
}

double Event::seconds_since(const Event& earlier) const {
  if (capture_ || earlier.capture_) bad("seconds_since: an event was recorded in a capture; record it outside of one");
  return device_.state_->table->seconds_between(device_.state_->index, earlier.handle_, handle_);
}

void Event::synchronize() const {
  if (capture_) bad("synchronize: the event was recorded in a capture; synchronize a stream that the graph runs on");
  const BackendTable& table = *device_.state_->table;
  if (table.wait_event) table.wait_event(device_.state_->index, handle_);
}

bool Event::done() const {
  if (capture_) bad("done: the event was recorded in a capture; ask a stream that the graph runs on");
  const Device::State& device = *device_.state_;
  return !device.table->event_done || device.table->event_done(device.index, handle_);
}

}  // namespace trine::compute
