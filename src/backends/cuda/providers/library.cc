#include "backends/cuda/providers/library.h"

#include <map>
#include <mutex>

#include "trine/compute/module.h"

namespace trine::cuda {
namespace {

const compute::Module& narrow_module(const compute::Device& device) {
  static std::mutex mutex;
  static auto* modules = new std::map<std::string, compute::Module>;  // outlives whatever is still running at exit
  const std::lock_guard lock(mutex);
  const std::string id = device.info().id;
  auto at = modules->find(id);
  if (at == modules->end())
    at = modules->emplace(id, compute::Module::compile(device, dnn::device_source("narrow.cu")->text)).first;
  return at->second;
}

}  // namespace

PretendedLibraries& pretended_libraries() {
  static PretendedLibraries libraries;
  return libraries;
}

void prepare_narrow(const compute::Device& device) {
  for (const char* kernel : {"narrow_f16", "narrow_bf16"}) narrow_module(device).kernel(kernel).properties();
}

void narrow(const compute::Device& device, compute::Stream& stream, const void* from, void* to, int64_t count,
            DType half) {
  const auto blocks = static_cast<uint32_t>((count + 255) / 256);
  narrow_module(device)
      .kernel(half == DType::f16 ? "narrow_f16" : "narrow_bf16")
      .launch(stream, {.grid = {blocks}, .block = {256}}, from, to, static_cast<int>(count));
}

}  // namespace trine::cuda
