// What the handles of trine/compute/c.h hold, and how calls of C++ become calls of C.
#pragma once

#include <fmt/format.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "trine/base/error.h"
#include "trine/compute/c.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"
#include "trine/compute/program.h"

struct trine_device {
  trine::compute::Device value;
  trine::compute::DeviceInfo info;
};
struct trine_buffer {
  trine::compute::Buffer value;
};
struct trine_host_buffer {
  trine::compute::HostBuffer value;
};
struct trine_stream {
  trine::compute::Stream value;
};
struct trine_event {
  trine::compute::Event value;
};
struct trine_module {
  trine::compute::Module value;
  std::vector<std::string> kernels;
};
struct trine_kernel {
  trine::compute::Kernel value;
  trine::compute::KernelProperties properties;
};
struct trine_graph {
  trine::compute::Graph value;
};
struct trine_program {
  trine::compute::CompiledProgram value;
};

namespace trine::compute::c {

// Remembers the text for trine_last_error().
trine_status failed(trine_status status, const char* text) noexcept;

template <class Body>
trine_status call(const Body& body) noexcept {
  try {
    body();
    return TRINE_OK;
  } catch (const Error& error) {
    return failed(static_cast<trine_status>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(TRINE_OUT_OF_MEMORY, "no memory");
  } catch (const std::exception& error) {
    return failed(TRINE_INTERNAL, error.what());
  } catch (...) {
    return failed(TRINE_INTERNAL, "an exception that is none of ours");
  }
}

inline void need(const void* pointer, const char* call, const char* what) {
  if (!pointer) throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} is null; give one", call, what));
}

// Structs of this version or a later one; earlier ones would be shorter than the first.
template <class Struct>
void need_struct(const Struct* given, const char* call, const char* what) {
  need(given, call, what);
  if (given->struct_bytes < sizeof(Struct))
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} of {} bytes; set struct_bytes to its size, {}", call,
                                                         what, given->struct_bytes, sizeof(Struct)));
}

std::vector<std::string> texts(const char* const* list, size_t count, const char* call, const char* what);
LaunchShape shape_of(const trine_launch_shape* shape, const char* call);

}  // namespace trine::compute::c
