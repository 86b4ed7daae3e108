#include "backends/cuda/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "trine/base/error.h"

namespace trine::cuda {
namespace {

// Errors after which the context takes no more work. They come up in whatever call is next.
bool is_sticky(Result result) {
  constexpr Result kSticky[] = {kEccUncorrectable, kIllegalAddress, kLaunchTimeout,      kContextDestroyed,
                                kAssert,           kStackError,     kIllegalInstruction, kMisaligned,
                                kAddressSpace,     kInvalidCounter, kLaunchFailed};
  return std::find(std::begin(kSticky), std::end(kSticky), result) != std::end(kSticky);
}

ErrorCode code_of(Result result) {
  if (result == kOutOfMemory) return ErrorCode::out_of_memory;
  if (result == kNotSupported) return ErrorCode::unsupported;
  const bool mistake = result == kInvalidPtx || result == kAlreadyRegistered || result == kLaunchOutOfResources ||
                       result == kCooperativeTooLarge || (result >= kFirstCapture && result <= kLastCapture);
  return mistake ? ErrorCode::invalid_argument : ErrorCode::device;
}

std::unique_ptr<DeviceContext> open(int index) {
  auto device = std::make_unique<DeviceContext>();
  device->index = index;
  check(api().device_get(&device->id, index), "cuDeviceGet");
  check(api().primary_retain(&device->context, device->id), "cuDevicePrimaryCtxRetain");
  check(api().context_set(device->context), "cuCtxSetCurrent");
  check(api().device_attribute(&device->shared_bytes, kSharedBytesOptIn, device->id), "cuDeviceGetAttribute");
  check(api().device_attribute(&device->multiprocessors, kMultiprocessors, device->id), "cuDeviceGetAttribute");
  int major = 0;
  check(api().device_attribute(&major, kMajor, device->id), "cuDeviceGetAttribute");
  device->can_overlap = major >= 9 && driver().version >= 12030;  // that graphs of them are recorded
  int pools = 0;
  check(api().device_attribute(&pools, kPoolsSupported, device->id), "cuDeviceGetAttribute");
  if (pools) {
    check(api().device_pool(&device->pool, device->id), "cuDeviceGetDefaultMemPool");
    uint64_t keep = UINT64_MAX;  // given back when memory is short, not at every synchronisation
    check(api().pool_set(device->pool, kPoolKeepBytes, &keep), "cuMemPoolSetAttribute");
  }
  return device;
}

}  // namespace

DeviceContext& use_device(int index) {
  static std::mutex mutex;
  static auto& open_devices = *new std::map<int, std::unique_ptr<DeviceContext>>;  // outlives what is freed at exit
  DeviceContext* device = nullptr;
  {
    const std::lock_guard lock(mutex);
    std::unique_ptr<DeviceContext>& slot = open_devices[index];
    if (!slot) slot = open(index);
    device = slot.get();
  }
  use(*device);
  return *device;
}

void use(const DeviceContext& device) {
  Context current = nullptr;
  if (api().context_get(&current) == kSuccess && current == device.context) return;
  check(api().context_set(device.context), "cuCtxSetCurrent");
}

void check(Result result, std::string_view call, const std::string* kernel) {
  if (result == kSuccess) [[likely]]
    return;
  std::string text = fmt::format("{}: {}", call, words_of(api(), result));
  if (is_sticky(result)) {
    if (kernel) text += fmt::format("; launched last: {}", *kernel);
    text += "; the device takes no more work from this program, compute-sanitizer finds the place";
  }
  throw Error(code_of(result), text);
}

const std::string* kept_name(const std::string& name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return &*names.insert(name).first;
}

}  // namespace trine::cuda
