// What libtrine_gpu exports: runners of plans on devices.
#include <map>
#include <mutex>

#include "plan/device/device_executor.h"
#include "plan/device_runtime.h"
#include "trine/base/error.h"

namespace trine {
namespace {

// The same code that a GPU runs, on this CPU.
constexpr const char* kSimt = "simt";

class Runtime final : public DeviceRuntime {
 public:
  explicit Runtime(const compute::Device& device)
      : programs_(std::make_shared<compute::DevicePrograms>(device, dnn::device_headers())),
        target_(std::make_shared<DeviceTarget>(device, programs_)) {}

  const Target& target() const override { return *target_; }

  std::unique_ptr<Runner> runner(std::shared_ptr<const Plan> plan, bool graphs) override {
    std::shared_ptr<DeviceStore> store = store_of(plan);
    auto context = std::make_shared<DeviceContext>(target_, std::move(store));
    context->graphs = graphs;
    return std::make_unique<DeviceExecutor>(std::move(plan), std::move(context));
  }

  std::string code(std::span<const std::unique_ptr<Segment>> segments) override {
    std::vector<const compute::DeviceCall*> calls;
    for (const std::unique_ptr<Segment>& segment : segments)
      for (const Call& call : segment->calls)
        for (size_t part = 0; call.device && part < work_of(call).calls.size(); ++part)
          calls.push_back(&work_of(call).calls[part]);
    return programs_->code(calls);
  }

  std::shared_ptr<const void> adopt(std::string_view code) override { return programs_->adopt(code); }

 private:
  // Runners of one plan share a store for as long as any of them is there.
  std::shared_ptr<DeviceStore> store_of(const std::shared_ptr<const Plan>& plan) {
    const std::lock_guard lock(mutex_);
    std::erase_if(stores_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<DeviceStore>& held = stores_[plan.get()];
    std::shared_ptr<DeviceStore> store = held.lock();
    if (!store) held = store = std::make_shared<DeviceStore>(target_->device(), programs_);
    return store;
  }

  std::shared_ptr<compute::DevicePrograms> programs_;
  std::shared_ptr<const DeviceTarget> target_;
  std::mutex mutex_;
  std::map<const Plan*, std::weak_ptr<DeviceStore>> stores_;
};

std::shared_ptr<DeviceRuntime> runtime_of(const std::string& device) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<DeviceRuntime>>& opened =
      *new std::map<std::string, std::shared_ptr<DeviceRuntime>>;  // drivers may go before statics do
  const std::lock_guard lock(mutex);
  std::shared_ptr<DeviceRuntime>& runtime = opened[device];
  if (!runtime) runtime = std::make_shared<Runtime>(compute::Device::open(device == kSimt ? "cpu" : device));
  return runtime;
}

}  // namespace
}  // namespace trine

extern "C" {

const char* trine_gpu_stamp() { return TRINE_PLAN_STAMP; }

void trine_gpu_open(const std::string& device, std::shared_ptr<trine::DeviceRuntime>& opened) {
  opened = trine::runtime_of(device);
}
}
