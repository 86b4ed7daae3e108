// The functions of OpenCL 1.2 that the benchmark calls, from libOpenCL.so.1 at run time: no headers are needed to
// build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trine::bench_compute::cl {

using Status = int32_t;
using Handle = void*;  // of platforms, devices, contexts, queues, buffers, programs, kernels

constexpr uint64_t kDeviceTypeCpu = 2, kReadWrite = 1;
constexpr uint32_t kDeviceName = 0x102b, kDeviceVersion = 0x102f, kPlatformName = 0x0902, kBuildLog = 0x1183;

struct Functions {
  Status (*platforms)(uint32_t count, Handle* platforms, uint32_t* found);
  Status (*platform_info)(Handle platform, uint32_t what, size_t bytes, void* to, size_t* needed);
  Status (*devices)(Handle platform, uint64_t type, uint32_t count, Handle* devices, uint32_t* found);
  Status (*device_info)(Handle device, uint32_t what, size_t bytes, void* to, size_t* needed);
  Handle (*context)(const intptr_t* properties, uint32_t count, const Handle* devices,
                    void (*notify)(const char*, const void*, size_t, void*), void* data, Status* status);
  Handle (*queue)(Handle context, Handle device, uint64_t properties, Status* status);
  Handle (*buffer)(Handle context, uint64_t flags, size_t bytes, void* host, Status* status);
  Handle (*program)(Handle context, uint32_t count, const char** texts, const size_t* lengths, Status* status);
  Status (*build)(Handle program, uint32_t count, const Handle* devices, const char* options,
                  void (*notify)(Handle, void*), void* data);
  Status (*build_info)(Handle program, Handle device, uint32_t what, size_t bytes, void* to, size_t* needed);
  Handle (*kernel)(Handle program, const char* name, Status* status);
  Status (*argument)(Handle kernel, uint32_t index, size_t bytes, const void* value);
  Status (*launch)(Handle queue, Handle kernel, uint32_t dimensions, const size_t* offset, const size_t* global,
                   const size_t* local, uint32_t events, const Handle* wait_for, Handle* event);
  Status (*write)(Handle queue, Handle buffer, uint32_t blocking, size_t offset, size_t bytes, const void* from,
                  uint32_t events, const Handle* wait_for, Handle* event);
  Status (*read)(Handle queue, Handle buffer, uint32_t blocking, size_t offset, size_t bytes, void* to, uint32_t events,
                 const Handle* wait_for, Handle* event);
  Status (*copy)(Handle queue, Handle from, Handle to, size_t from_offset, size_t to_offset, size_t bytes,
                 uint32_t events, const Handle* wait_for, Handle* event);
  Status (*fill)(Handle queue, Handle buffer, const void* pattern, size_t pattern_bytes, size_t offset, size_t bytes,
                 uint32_t events, const Handle* wait_for, Handle* event);
  Status (*finish)(Handle queue);
  Status (*release_buffer)(Handle buffer);
  Status (*release_kernel)(Handle kernel);
  Status (*release_program)(Handle program);
};

}  // namespace trine::bench_compute::cl
