#include "plan/device/device_store.h"

namespace trine {

DeviceStore::DeviceStore(compute::Device device, std::shared_ptr<compute::DevicePrograms> programs)
    : device_(std::move(device)), programs_(std::move(programs)), stream_(device_.create_stream()) {}

compute::Buffer DeviceStore::uploaded(const void* data, size_t bytes) {
  compute::Buffer buffer = device_.allocate(std::max<size_t>(bytes, 1));
  if (bytes) stream_.upload(buffer, 0, data, bytes);
  stream_.synchronize();
  return buffer;
}

void* DeviceStore::constant(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  const std::pair key(tensor.data(), tensor.bytes());
  auto it = constants_.find(key);
  if (it == constants_.end())
    it = constants_.emplace(key, Held{{tensor}, uploaded(tensor.data(), tensor.bytes())}).first;
  return it->second.buffer.data();
}

void* DeviceStore::packed(const Plan& plan, const Call& call, const std::vector<Tensor>& weights) {
  const std::lock_guard lock(mutex_);
  const dnn::DeviceRow& row = *work_of(call).row;
  std::vector<const void*> data;
  for (const Tensor& t : weights) data.push_back(t.data());
  const PackedKey key(&plan, call.node, &row, call.packed_bytes, data);
  auto it = packed_.find(key);
  if (it == packed_.end()) {
    Tensor bytes(DType::u8, {static_cast<int64_t>(call.packed_bytes)});
    row.prepack(row, call.what.problem, data, bytes.mutable_data());
    it = packed_.emplace(key, Held{weights, uploaded(bytes.data(), bytes.bytes())}).first;
  }
  return it->second.buffer.data();
}

size_t DeviceStore::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [key, held] : constants_) sum += held.buffer.bytes();
  for (const auto& [key, held] : packed_) sum += held.buffer.bytes();
  return sum;
}

}  // namespace trine
