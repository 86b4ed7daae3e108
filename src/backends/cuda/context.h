// Devices in use: their primary contexts, and what a failure is told with.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "backends/cuda/driver.h"
#include "trine/base/error.h"

namespace trine::cuda {

// One for each device, from its first use until the program ends.
struct DeviceContext {
  int index;
  DeviceId id;
  Context context;
  Pool pool = nullptr;   // null: the device has no stream-ordered memory
  int shared_bytes = 0;  // of a block at most
  int multiprocessors = 0;
  bool can_overlap = false;                              // kernels with the one before: compute capability 9.0
  std::atomic<const std::string*> last_kernel{nullptr};  // launched, on any stream
};

// Retains the primary context at first, and makes it current in this thread. Throws Error{device}.
DeviceContext& use_device(int index);

// At exit the driver may be gone before what it gave; then there is nothing to free.
template <class Free>
void release(int index, const Free& free) {
  try {
    use_device(index);
  } catch (const Error&) {
    return;
  }
  free();
}

// Makes a context current that use_device() has given.
void use(const DeviceContext& device);

// Throws for all but kSuccess: Error{out_of_memory, invalid_argument, device}, naming the call and the driver's words.
// `kernel` is what was launched last where the error may come from; null when that is not known.
void check(Result result, std::string_view call, const std::string* kernel = nullptr);

// A name that stays as long as the program, so that it can be told after its module is gone.
const std::string* kept_name(const std::string& name);

}  // namespace trine::cuda
