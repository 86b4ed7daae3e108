#include "trine/compute/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "compute/device_state.h"
#include "trine/base/error.h"

namespace trine::compute {

namespace {

DeviceInfo info_of(const BackendTable& table, int index) {
  const DeviceProperties p = table.properties(index);
  const std::string id = table.device_count() > 1 || table.name == "cuda" ? fmt::format("{}:{}", table.name, index)
                                                                          : std::string(table.name);
  return {id, p.name, p.architecture, p.memory_bytes, p.compute_units, p.unified_memory};
}

[[noreturn]] void no_device(const std::string& id) {
  std::vector<std::string> have;
  for (const DeviceInfo& d : devices()) have.push_back(d.id);
  throw Error(ErrorCode::device, fmt::format("device '{}': not here; devices are {}", id, fmt::join(have, ", ")));
}

void need_inside(const Buffer& buffer, size_t offset, size_t bytes, const char* what) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} bytes at {} in a buffer of {} bytes; they must lie within it", what, bytes, offset,
                            buffer.bytes()));
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
      no_device(id);
  }
  if (!table || index < 0 || index >= table->device_count()) no_device(id);
  return Device(std::make_shared<const State>(State{table, index}));
}

DeviceInfo Device::info() const { return info_of(*state_->table, state_->index); }

Buffer Device::allocate(size_t bytes) const {
  return Buffer(*this, bytes ? state_->table->allocate(state_->index, bytes) : nullptr, bytes);
}

Stream Device::create_stream() const { return Stream(*this, state_->table->create_stream(state_->index)); }
Event Device::create_event() const { return Event(*this, state_->table->create_event(state_->index)); }

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_), data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Buffer::~Buffer() {
  if (data_) device_.state_->table->free(device_.state_->index, data_);
}

Stream::Stream(Stream&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if (handle_) device_.state_->table->destroy_stream(device_.state_->index, handle_);
}

void Stream::upload(const Buffer& to, size_t offset, const void* from, size_t bytes) {
  need_inside(to, offset, bytes, "upload");
  device_.state_->table->copy(device_.state_->index, at(to, offset), from, bytes, CopyKind::host_to_device, handle_);
}

void Stream::download(void* to, const Buffer& from, size_t offset, size_t bytes) {
  need_inside(from, offset, bytes, "download");
  device_.state_->table->copy(device_.state_->index, to, at(from, offset), bytes, CopyKind::device_to_host, handle_);
}

void Stream::copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset, size_t bytes) {
  need_inside(to, to_offset, bytes, "copy");
  need_inside(from, from_offset, bytes, "copy");
  device_.state_->table->copy(device_.state_->index, at(to, to_offset), at(from, from_offset), bytes,
                              CopyKind::device_to_device, handle_);
}

void Stream::fill(const Buffer& buffer, uint8_t value) {
  device_.state_->table->fill(device_.state_->index, buffer.data(), value, buffer.bytes(), handle_);
}

void Stream::record(const Event& event) {
  device_.state_->table->record(device_.state_->index, event.handle_, handle_);
}
void Stream::wait(const Event& event) { device_.state_->table->wait(device_.state_->index, handle_, event.handle_); }
void Stream::synchronize() { device_.state_->table->synchronize(device_.state_->index, handle_); }

void Stream::call(std::function<void()> function) {
  auto* held = new std::function<void()>(std::move(function));
  const auto run = [](void* p) {
    const std::unique_ptr<std::function<void()>> f(static_cast<std::function<void()>*>(p));
    (*f)();
  };
  device_.state_->table->call(device_.state_->index, handle_, run, held);
}

Event::Event(Event&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_) device_.state_->table->destroy_event(device_.state_->index, handle_);
}

double Event::seconds_since(const Event& earlier) const {
  return device_.state_->table->seconds_between(device_.state_->index, earlier.handle_, handle_);
}

}  // namespace trine::compute
