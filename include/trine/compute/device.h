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
class HostBuffer;
class Stream;
class Event;
class Graph;
struct Capture;

struct DeviceInfo {
  std::string id;            // "cpu", "cuda:0": what open() and --device take
  std::string name;          // "AMD EPYC 9B14"
  std::string architecture;  // "x86-64 avx512"
  size_t memory_bytes = 0;
  int compute_units = 0;
  bool unified_memory = false;
};

// What launches and kernels may ask for.
struct DeviceLimits {
  uint32_t threads_per_block = 1024;
  uint32_t block[3] = {1024, 1024, 64};
  uint32_t grid[3] = {0x7fffffff, 65535, 65535};
  uint32_t shared_bytes_per_block = 227 << 10;  // static and dynamic together
  uint32_t constant_bytes = 64 << 10;
  uint32_t warp_threads = 32;
  uint32_t registers_per_block = 65536;
  int greatest_priority = 0;  // of streams; 0 is the least
  bool cooperative = true;    // launches
};

// Bytes in rows, and rows in slices, that lie apart: pictures, volumes and parts of them.
struct Pitched {
  void* data;
  size_t row_bytes = 0;     // from the start of a row to that of the next; 0: rows are as wide as what is copied
  size_t slice_bytes = 0;   // likewise of slices, a multiple of row_bytes; 0: no gaps
  size_t bytes = SIZE_MAX;  // that there are from `data` on: more is not touched
};
struct Extent {
  size_t width_bytes, rows = 1, slices = 1;
};
enum class CopyKind : uint8_t { host_to_device, device_to_host, device_to_device };

// Every device of every backend in this program.
std::vector<DeviceInfo> devices();

// Cheap handle. May be used from any thread.
class Device {
 public:
  // "cpu", "null", "cuda:1". Throws Error{device} that lists what there is.
  static Device open(const std::string& id);

  DeviceInfo info() const;
  DeviceLimits limits() const;
  size_t free_bytes() const;            // of memory, now
  Buffer allocate(size_t bytes) const;  // throws Error{out_of_memory}
  // Host memory that the device copies at full speed and while the host goes on. Throws Error{out_of_memory}.
  HostBuffer allocate_host(size_t bytes) const;
  // The same of memory that is allocated already, and stays when the buffer is destroyed; kernels do not write what is
  // `read_only`. Throws Error{invalid_argument} for null and what is registered before, in part or all, and
  // Error{unsupported} where the device knows no `read_only`.
  HostBuffer register_host(void* memory, size_t bytes, bool read_only = false) const;
  // Of two streams with work, the one with the larger priority goes first; Stream::priority() is what the device made
  // of it.
  Stream create_stream(int priority = 0) const;
  Event create_event() const;
  // Gives back what the pool of Stream::allocate() keeps beyond so many bytes.
  void trim_pool(size_t keep_bytes = 0) const;

  struct State;

 private:
  friend class Buffer;
  friend class HostBuffer;
  friend class Stream;
  friend class Event;
  friend class Graph;
  friend class Kernel;
  friend class Module;
  explicit Device(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Device memory; freed on destruction. Work that uses it must be finished by then; memory of Stream::allocate is freed
// after what its stream was given before: neither when that stream is gone, nor while it is captured.
class Buffer {
 public:
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  void* data() const { return data_; }  // a device address
  size_t bytes() const { return bytes_; }

 private:
  friend class Device;
  friend class Stream;
  Buffer(Device device, void* data, size_t bytes, void* stream = nullptr)
      : device_(std::move(device)), data_(data), bytes_(bytes), stream_(stream) {}
  Device device_;
  void* data_;
  size_t bytes_;
  void* stream_;  // that it is freed on; null: at once
};

// Host memory of Device::allocate_host or register_host; freed, or no longer pinned, on destruction. Work that uses it
// must be finished by then.
class HostBuffer {
 public:
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;
  ~HostBuffer();
  void* data() const { return data_; }
  void* device_data() const;  // the address by which kernels of the device read and write it
  size_t bytes() const { return bytes_; }

 private:
  friend class Device;
  HostBuffer(Device device, void* data, size_t bytes, bool registered)
      : device_(std::move(device)), data_(data), bytes_(bytes), registered_(registered) {}
  Device device_;
  void* data_;
  size_t bytes_;
  bool registered_;
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
  // No overlap. The buffers may be of other devices, and of the CPU.
  void copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset, size_t bytes);
  // Rows and slices. Throws Error{invalid_argument} for rows that overlap, and what lies outside of Pitched::bytes.
  void copy(const Pitched& to, const Pitched& from, const Extent& extent, CopyKind kind);
  // Where there is no Buffer: variables of modules. Nothing is checked.
  void upload(void* to_device, const void* from, size_t bytes);
  void download(void* to, const void* from_device, size_t bytes);
  void fill(const Buffer& buffer, uint8_t value);
  void fill(const Buffer& buffer, size_t offset, size_t bytes, uint8_t value);
  void record(const Event& event);
  void wait(const Event& event);
  // On the host, in order. What it throws comes out of this call or of the next synchronize().
  void call(std::function<void()> function);
  void synchronize();
  bool done() const;  // all that it was given; failures are told by synchronize()

  // Memory for the work that this stream is given from now on, without waiting for anything. Throws
  // Error{out_of_memory}.
  Buffer allocate(size_t bytes);
  int priority() const { return priority_; }

  // From here on work is not done but kept for a Graph; see compute/graph.h, which needs libtrine_compute.
  void begin_capture();
  Graph end_capture();
  bool capturing() const;
  // The driver's own stream, for its libraries: a CUstream; null where there is none. The device's context is this
  // thread's then. Needs libtrine_compute.
  void* native() const;

 private:
  friend class Device;
  friend class Graph;
  friend class Kernel;
  Stream(Device device, void* handle, int priority)
      : device_(std::move(device)), handle_(handle), priority_(priority) {}
  template <class Work>
  void submit(const Work& work);
  Device device_;
  void* handle_;
  int priority_;
  std::shared_ptr<Capture> capture_;  // the one that this stream is in, or was
};

// A point in a stream's work.
class Event {
 public:
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();
  double seconds_since(const Event& earlier) const;  // both recorded, not in a capture; waits for this one
  void synchronize() const;                          // waits for it; at once when it was not recorded
  bool done() const;                                 // what was recorded, or nothing was

 private:
  friend class Device;
  friend class Stream;
  Event(Device device, void* handle) : device_(std::move(device)), handle_(handle) {}
  Device device_;
  void* handle_;
  mutable std::shared_ptr<Capture> capture_;  // that it was recorded in
};

}  // namespace trine::compute
