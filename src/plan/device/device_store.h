// What all runners of one model on one device share: compiled kernels, and weights in the device's memory.
#pragma once

#include <map>
#include <mutex>

#include "compute/device_launch.h"
#include "plan/device/device_target.h"

namespace trine {

// May be used from any thread. Addresses stay valid as long as the store.
class DeviceStore {
 public:
  DeviceStore(compute::Device device, std::shared_ptr<compute::DevicePrograms> programs);

  const compute::Device& device() const { return device_; }
  compute::DevicePrograms& programs() { return *programs_; }

  // The device's copy of a tensor that never changes; made once for each tensor in memory.
  void* constant(const Tensor& tensor);
  // Weights as the row of `call` wants them; packed and uploaded once for each node (of `plan`), row and weights:
  // packing depends on no size that a run may change.
  void* packed(const Plan& plan, const Call& call, const std::vector<Tensor>& weights);
  size_t bytes() const;

 private:
  struct Held {
    std::vector<Tensor> source;  // whose addresses are the key
    compute::Buffer buffer;
  };
  using PackedKey = std::tuple<const Plan*, int, const dnn::DeviceRow*, size_t, std::vector<const void*>>;
  compute::Buffer uploaded(const void* data, size_t bytes);

  compute::Device device_;
  std::shared_ptr<compute::DevicePrograms> programs_;
  mutable std::mutex mutex_;
  compute::Stream stream_;  // of uploads
  std::map<std::pair<const void*, size_t>, Held> constants_;
  std::map<PackedKey, Held> packed_;
};

}  // namespace trine
