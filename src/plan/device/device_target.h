// What a device has for the calls of a plan: rows of dnn, and loops rendered as CUDA C++.
#pragma once

#include "dnn/device_row.h"
#include "plan/prepare.h"

namespace trine {

// A kernel row, launched or provided by a vendor's library, or a group's loops one after the other.
class ChosenWork final : public DeviceWork {
 public:
  const dnn::DeviceRow* row = nullptr;  // null: loops
  const dnn::DeviceTraits* traits = nullptr;
  std::vector<compute::DeviceCall> calls;
  std::shared_ptr<dnn::ProvidedCall> provided;

  std::string_view kernel() const override { return row ? row->name : "loop"; }
  std::string_view provider() const override { return row && row->provide ? row->provider : "own"; }
  bool tf32() const override { return row && row->tf32; }
  bool fits(const dnn::Problem& problem) const override {
    return row && !provided && !row->fits(*row, problem, *traits);
  }
};

inline const ChosenWork& work_of(const Call& call) { return static_cast<const ChosenWork&>(*call.device); }

class DeviceTarget final : public Target {
 public:
  // `programs`: where kernels that are timed stay compiled; null: made here.
  explicit DeviceTarget(compute::Device device, std::shared_ptr<compute::DevicePrograms> programs = nullptr);

  const std::string& fingerprint() const override { return fingerprint_; }
  bool has_row(std::string_view name) const override { return dnn::find_device_row(name) != nullptr; }
  std::string choose(const Plan& plan, std::string_view chosen, Call& call) const override;
  std::string render(std::span<const codegen::LoopKernel> loops, const Bindings& bindings, Call& call) const override;
  void measure(const Plan& plan, const dnn::Problem& problem) const override;
  void settle(Call& call) const override;

  // The fingerprint and what the device is called, for who remembers times.
  const std::string& machine() const { return machine_; }
  const compute::Device& device() const { return device_; }
  const dnn::DeviceTraits& traits() const { return traits_; }
  compute::DevicePrograms& programs() const { return *programs_; }

 private:
  // Those that the plan may take, the fastest by the model first.
  dnn::DeviceChoice candidates(const Plan& plan, const dnn::Problem& problem) const;
  bool small_enough(const dnn::DeviceRow& row, const dnn::Problem& problem, size_t workspace_bytes) const;

  compute::Device device_;
  std::shared_ptr<compute::DevicePrograms> programs_;
  dnn::DeviceTraits traits_;
  std::string fingerprint_, machine_;
};

}  // namespace trine
