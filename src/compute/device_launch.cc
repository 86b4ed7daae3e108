#include "compute/device_launch.h"

#include <fmt/format.h>

#include <list>

#include "trine/base/error.h"

namespace trine::compute {
namespace {

struct alignas(64) MapBytes {
  std::byte bytes[kTensorMapBytes];
};

MapBytes encoded(const KernelTable* table, int index, const TensorMapArgument& map, void* address) {
  if (!table || !table->encode_tensor_map)
    throw Error(ErrorCode::unsupported,
                "launch: a tensor map on this device; GPUs of compute capability 9.0 have them");
  MapBytes out;
  table->encode_tensor_map(index, map.shape, address, &out);
  return out;
}

}  // namespace

DevicePrograms::DevicePrograms(Device device, std::vector<std::pair<std::string, std::string>> headers)
    : device_(std::move(device)), headers_(std::move(headers)) {
  const std::string id = device_.info().id;
  const size_t colon = id.find(':');
  table_ = find_kernel_table(id.substr(0, colon));
  if (colon != std::string::npos) index_ = std::stoi(id.substr(colon + 1));
}

void DevicePrograms::prepare(const std::vector<const DeviceCall*>& calls) {
  Wanted wanted;
  std::unique_lock lock(mutex_);
  for (const DeviceCall* call : calls)
    for (const DeviceLaunch& launch : call->launches) {
      if (kernels_.contains(Key(launch.kernel, launch.source->text))) continue;
      auto& [source, kernels] = wanted[launch.source->text];
      source = launch.source;
      kernels.insert(launch.kernel);
    }
  lock.unlock();  // others compile meanwhile; of a kernel that two of them made the first stays
  for (auto& [text, what] : wanted) {
    auto& [source, kernels] = what;
    std::string problem;
    load_adopted(*source, kernels, problem);
    if (kernels.empty()) continue;
    try {
      const Module module = Module::compile(device_, text, options_for(*source, kernels));
      lock.lock();
      for (const std::string& kernel : kernels) kernels_.emplace(std::pair(kernel, text), module.kernel(kernel));
      lock.unlock();
    } catch (const Error& e) {
      if (problem.empty() || e.code() != ErrorCode::unsupported) throw;
      throw Error(e.code(),
                  fmt::format("{}; and compiled kernels of the engine were not taken: {}", e.what(), problem));
    }
  }
}

Kernel DevicePrograms::kernel(const DeviceLaunch& launch) {
  const Key key(launch.kernel, launch.source->text);
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = kernels_.find(key); it != kernels_.end()) return it->second;
  }
  DeviceCall call;
  call.launches.push_back(launch);
  prepare({&call});
  const std::lock_guard lock(mutex_);
  return kernels_.find(key)->second;
}

void DevicePrograms::submit(const DeviceCall& call, const OperandAddresses& addresses, Stream& stream) {
  for (const DeviceLaunch& launch : call.launches) {
    std::vector<void*> held(launch.arguments.size());  // addresses
    std::list<MapBytes> maps;
    std::vector<const void*> arguments;
    std::vector<uint32_t> bytes;
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      if (const auto* role = std::get_if<OperandRole>(&launch.arguments[i])) {
        char* base = static_cast<char*>(addresses(*role));
        held[i] = base ? base + role->offset : nullptr;
        arguments.push_back(&held[i]);
        bytes.push_back(sizeof(void*));
      } else if (const auto* map = std::get_if<TensorMapArgument>(&launch.arguments[i])) {
        maps.push_back(
            encoded(table_, index_, *map, static_cast<char*>(addresses(map->address)) + map->address.offset));
        arguments.push_back(&maps.back());
        bytes.push_back(kTensorMapBytes);
      } else {
        const auto& value = std::get<ArgumentBytes>(launch.arguments[i]);
        arguments.push_back(value.data());
        bytes.push_back(static_cast<uint32_t>(value.size()));
      }
    }
    kernel(launch).launch_raw(stream, launch.shape, arguments.data(), bytes.data(), arguments.size());
  }
}

}  // namespace trine::compute
