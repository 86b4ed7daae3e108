// Layer 1: devices, memory, streams and events.
//
//   auto device = trine::compute::Device::open("cpu");
//   auto stream = device.create_stream();
//   auto buffer = device.allocate(1 << 20);
//   stream.upload(buffer, 0, host, bytes);
//   stream.synchronize();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trine::compute {

class Buffer;
class Stream;
class Event;

struct DeviceInfo {
  std::string id;            // "cpu", "cuda:0": what open() and --device take
  std::string name;          // "AMD EPYC 9B14"
  std::string architecture;  // "x86-64 avx512"
  size_t memory_bytes = 0;
  int compute_units = 0;
  bool unified_memory = false;
};

// Every device of every backend in this program.
std::vector<DeviceInfo> devices();

// Cheap handle. May be used from any thread.
class Device {
 public:
  // "cpu", "null", "cuda:1". Throws Error{device} that lists what there is.
  static Device open(const std::string& id);

  DeviceInfo info() const;
  Buffer allocate(size_t bytes) const;  // throws Error{out_of_memory}
  Stream create_stream() const;
  Event create_event() const;

  struct State;

 private:
  friend class Buffer;
  friend class Stream;
  friend class Event;
  friend class Kernel;
  friend class Module;
  explicit Device(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Device memory; freed on destruction. Work that uses it must be finished by then.
class Buffer {
 public:
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  void* data() const { return data_; }  // a device address
  size_t bytes() const { return bytes_; }

 private:
  friend class Device;
  Buffer(Device device, void* data, size_t bytes) : device_(std::move(device)), data_(data), bytes_(bytes) {}
  Device device_;
  void* data_;
  size_t bytes_;
};

// Work on a stream happens in order. A copy outside its buffer throws Error{invalid_argument}. Host memory must stay
// valid until the stream is synchronised. One thread at a time.
class Stream {
 public:
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();  // waits

  void upload(const Buffer& to, size_t offset, const void* from, size_t bytes);
  void download(void* to, const Buffer& from, size_t offset, size_t bytes);
  void copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset, size_t bytes);
  void fill(const Buffer& buffer, uint8_t value);
  void record(const Event& event);
  void wait(const Event& event);
  void call(std::function<void()> function);  // on the host, in order
  void synchronize();

 private:
  friend class Device;
  friend class Kernel;
  Stream(Device device, void* handle) : device_(std::move(device)), handle_(handle) {}
  Device device_;
  void* handle_;
};

// A point in a stream's work.
class Event {
 public:
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();
  double seconds_since(const Event& earlier) const;  // both recorded; waits for this one

 private:
  friend class Device;
  friend class Stream;
  Event(Device device, void* handle) : device_(std::move(device)), handle_(handle) {}
  Device device_;
  void* handle_;
};

}  // namespace trine::compute
