// Versions, errors, devices and their memory.
#include "compute/c/handles.h"

namespace trine::compute::c {
namespace {

thread_local std::string last_error;

trine_device* handle_of(Device device) {
  DeviceInfo info = device.info();
  return new trine_device{std::move(device), std::move(info)};
}

void limits_of(const Device& device, trine_device_limits* to) {
  const DeviceLimits l = device.limits();
  const size_t bytes = to->struct_bytes;
  *to = {bytes,
         l.threads_per_block,
         {l.block[0], l.block[1], l.block[2]},
         {l.grid[0], l.grid[1], l.grid[2]},
         l.shared_bytes_per_block,
         l.constant_bytes,
         l.warp_threads,
         l.registers_per_block,
         l.greatest_priority,
         l.cooperative};
}

}  // namespace

trine_status failed(trine_status status, const char* text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

std::vector<std::string> texts(const char* const* list, size_t count, const char* call, const char* what) {
  if (count) need(list, call, what);
  std::vector<std::string> all;
  for (size_t i = 0; i < count; ++i) {
    need(list[i], call, what);
    all.emplace_back(list[i]);
  }
  return all;
}

}  // namespace trine::compute::c

using namespace trine::compute::c;
using trine::Error;
using trine::ErrorCode;

extern "C" {

const char* trine_version(void) { return TRINE_VERSION; }
int trine_c_abi(void) { return TRINE_C_ABI; }
const char* trine_last_error(void) { return last_error.c_str(); }

const char* trine_status_name(trine_status status) {
  switch (status) {
    case TRINE_OK: return "ok";
    case TRINE_INVALID_ARGUMENT: return "invalid argument";
    case TRINE_UNSUPPORTED: return "unsupported";
    case TRINE_IO: return "input or output";
    case TRINE_OUT_OF_MEMORY: return "out of memory";
    case TRINE_DEVICE_FAILED: return "device failed";
    case TRINE_INTERNAL: return "internal";
  }
  return "unknown";
}

trine_status trine_device_count(size_t* count) {
  return call([&] {
    need(count, "trine_device_count", "count");
    *count = trine::compute::devices().size();
  });
}

trine_status trine_device_at(size_t index, trine_device** device) {
  return call([&] {
    need(device, "trine_device_at", "device");
    const auto all = trine::compute::devices();
    if (index >= all.size())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("trine_device_at: device {} of {}; accepted are those below", index, all.size()));
    *device = handle_of(trine::compute::Device::open(all[index].id));
  });
}

trine_status trine_device_open(const char* id, trine_device** device) {
  return call([&] {
    need(id, "trine_device_open", "id");
    need(device, "trine_device_open", "device");
    *device = handle_of(trine::compute::Device::open(id));
  });
}

void trine_device_destroy(trine_device* device) { delete device; }

trine_status trine_device_get_info(const trine_device* device, trine_device_info* info) {
  return call([&] {
    need(device, "trine_device_get_info", "device");
    need_struct(info, "trine_device_get_info", "info");
    const auto& i = device->info;
    *info = {info->struct_bytes, i.id.c_str(),    i.name.c_str(),  i.architecture.c_str(),
             i.memory_bytes,     i.compute_units, i.unified_memory};
  });
}

trine_status trine_device_get_limits(const trine_device* device, trine_device_limits* limits) {
  return call([&] {
    need(device, "trine_device_get_limits", "device");
    need_struct(limits, "trine_device_get_limits", "limits");
    limits_of(device->value, limits);
  });
}

trine_status trine_device_free_bytes(const trine_device* device, size_t* bytes) {
  return call([&] {
    need(device, "trine_device_free_bytes", "device");
    need(bytes, "trine_device_free_bytes", "bytes");
    *bytes = device->value.free_bytes();
  });
}

trine_status trine_device_trim_pool(const trine_device* device, size_t keep_bytes) {
  return call([&] {
    need(device, "trine_device_trim_pool", "device");
    device->value.trim_pool(keep_bytes);
  });
}

trine_status trine_buffer_create(const trine_device* device, size_t bytes, trine_buffer** buffer) {
  return call([&] {
    need(device, "trine_buffer_create", "device");
    need(buffer, "trine_buffer_create", "buffer");
    *buffer = new trine_buffer{device->value.allocate(bytes)};
  });
}

trine_status trine_buffer_create_ordered(trine_stream* stream, size_t bytes, trine_buffer** buffer) {
  return call([&] {
    need(stream, "trine_buffer_create_ordered", "stream");
    need(buffer, "trine_buffer_create_ordered", "buffer");
    *buffer = new trine_buffer{stream->value.allocate(bytes)};
  });
}

void trine_buffer_destroy(trine_buffer* buffer) { delete buffer; }
void* trine_buffer_data(const trine_buffer* buffer) { return buffer ? buffer->value.data() : nullptr; }
size_t trine_buffer_bytes(const trine_buffer* buffer) { return buffer ? buffer->value.bytes() : 0; }

trine_status trine_host_buffer_create(const trine_device* device, size_t bytes, trine_host_buffer** buffer) {
  return call([&] {
    need(device, "trine_host_buffer_create", "device");
    need(buffer, "trine_host_buffer_create", "buffer");
    *buffer = new trine_host_buffer{device->value.allocate_host(bytes)};
  });
}

void trine_host_buffer_destroy(trine_host_buffer* buffer) { delete buffer; }
void* trine_host_buffer_data(const trine_host_buffer* buffer) { return buffer ? buffer->value.data() : nullptr; }

trine_status trine_host_buffer_device_data(const trine_host_buffer* buffer, void** address) {
  return call([&] {
    need(buffer, "trine_host_buffer_device_data", "buffer");
    need(address, "trine_host_buffer_device_data", "address");
    *address = buffer->value.device_data();
  });
}

}  // extern "C"
