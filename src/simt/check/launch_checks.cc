#include "simt/check/launch_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/check/order.h"

namespace trine::simt {

LaunchChecks::LaunchChecks(const CheckTable& of, const char* name, const compute::LaunchShape& launch_shape,
                           uint64_t parameter_block, uint64_t bytes)
    : table(of),
      kernel(name),
      shape(launch_shape),
      parameters(parameter_block),
      parameter_bytes(bytes),
      start(time_passes()),
      parallel(launch_shape.grid.volume() > 1 && !launch_shape.cooperative) {
  MemoryMap::of_process().begin_launch();
}

LaunchChecks::~LaunchChecks() { MemoryMap::of_process().end_launch(); }

std::string LaunchChecks::thread_text(uint32_t block, uint32_t thread) const {
  const auto& [gx, gy, gz] = shape.grid;
  const auto& [bx, by, bz] = shape.block;
  return fmt::format("block ({},{},{}), thread ({},{},{})", block % gx, block / gx % gy, block / gx / gy, thread % bx,
                     thread / bx % by, thread / bx / by);
}

void LaunchChecks::hand_over(uint64_t address, const HandedOver& what) {
  Shard& shard = shards_[address / 4 % kShards];
  const std::lock_guard lock(shard.mutex);
  HandedOver& there = shard.addresses[address];
  there.device = std::max(there.device, what.device);
  if (there.block != what.block) there.of_block = 0;
  there.block = what.block;
  there.of_block = std::max(there.of_block, what.of_block);
  any_handed_over_.store(true, std::memory_order_release);
}

bool LaunchChecks::handed_over(uint64_t address, HandedOver& what) {
  if (!any_handed_over_.load(std::memory_order_acquire)) return false;
  Shard& shard = shards_[address / 4 % kShards];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.addresses.find(address);
  if (found == shard.addresses.end()) return false;
  what = found->second;
  return true;
}

bool LaunchChecks::is_known(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = found_.find(key);
  if (found == found_.end()) return false;
  ++found->second.count;
  return true;
}

void LaunchChecks::add(const Key& key, Finding finding) {
  const std::lock_guard lock(mutex_);
  if (!found_.emplace(key, std::move(finding)).second) return;
  order_.push_back(key);
}

std::string LaunchChecks::report() {
  const std::lock_guard lock(mutex_);
  for (const Key& key : order_) simt::report(found_[key]);
  return order_.empty() ? "" : text_of(found_[order_.front()]);
}

}  // namespace trine::simt
