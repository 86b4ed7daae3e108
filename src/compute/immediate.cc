#include "compute/immediate.h"

namespace trine::compute {

BackendTable immediate_backend(std::string_view name) {
  return {.name = name,
          .device_count = [] { return 1; },
          .create_stream = [](int) -> StreamHandle { return new char; },
          .destroy_stream = [](int, StreamHandle stream) { delete static_cast<char*>(stream); },
          .synchronize = [](int, StreamHandle) {},
          .wait = [](int, StreamHandle, EventHandle) {},
          .call = [](int, StreamHandle, void (*function)(void*), void* argument) { function(argument); }};
}

}  // namespace trine::compute
