#include "simt/check/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "compute/live_memory.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// What was freed is kept that long, so that its use is known as such.
constexpr uint64_t kQuarantineBytes = 256 << 20;
constexpr uint64_t kFar = 1 << 20;  // addresses further off belong to nothing

std::atomic<bool> enabled{false};

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

const compute::MemoryWatch kWatch = {
    .allocated =
        [](void* begin, size_t bytes, bool was_there) {
          MemoryMap::of_process().add(number(begin), bytes, RegionKind::device, "", !was_there);
        },
    .released = [](void* begin) { return MemoryMap::of_process().release(number(begin), ""); }};

std::string plural(uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

std::string whole(const Region& region) {
  const char* freed = region.freed ? ", which is freed" : "";
  return fmt::format("{} of {}{}", region.name, plural(region.bytes), freed);
}

std::string relative(const Region& region, uint64_t address, uint64_t bytes) {
  if (address < region.low) return fmt::format("{} before {}", plural(region.low - address), whole(region));
  if (address >= region.low + region.bytes)
    return fmt::format("{} past the end of {}", plural(address - region.low - region.bytes), whole(region));
  if (address + bytes > region.low + region.bytes)
    return fmt::format("at byte {}, its last {} past the end, of {}", address - region.low,
                       plural(address + bytes - region.low - region.bytes), whole(region));
  return fmt::format("at byte {} of {}", address - region.low, whole(region));
}

}  // namespace

Cells& Region::cells() {
  Cells* known = cells_.load(std::memory_order_acquire);
  if (known) return *known;
  const std::lock_guard lock(mutex_);
  if (!owned_) owned_ = std::make_unique<Cells>(bytes);
  cells_.store(owned_.get(), std::memory_order_release);
  return *owned_;
}

void Region::watch() {
  if (!shadow_ || shadow_->bytes() < bytes) shadow_ = std::make_unique<Shadow>(bytes);
  shadow_->mark(bytes);
  if (kind != RegionKind::shared) fill_unwritten(low, bytes);
}

Watched Region::watched() const {
  if (!shadow_ || freed) return {};
  return {shadow_->base(low), kind != RegionKind::shared, low, low + bytes};
}

MemoryMap& MemoryMap::of_process() {
  static MemoryMap& map = *new MemoryMap;
  return map;
}

bool MemoryMap::is_enabled() { return enabled.load(std::memory_order_relaxed); }

void MemoryMap::enable() {
  if (!enabled.exchange(true)) compute::watch_memory(kWatch);
}

void MemoryMap::watch_writes() { watches_writes_.store(true, std::memory_order_relaxed); }

void MemoryMap::insert(std::unique_ptr<Region> region) {
  const uint64_t low = region->low, end = low + std::max<uint64_t>(region->bytes, 1);
  auto at = regions_.upper_bound(low);
  if (at != regions_.begin() && std::prev(at)->second->low + std::prev(at)->second->bytes > low) --at;
  while (at != regions_.end() && at->first < end) at = regions_.erase(at);  // of modules and memory that are gone
  regions_[low] = std::move(region);
  changed();
}

void MemoryMap::add(uint64_t low, uint64_t bytes, RegionKind kind, std::string name, bool is_new) {
  auto region = std::make_unique<Region>();
  region->low = low;
  region->bytes = bytes;
  region->kind = kind;
  if (is_new && watches_writes_.load(std::memory_order_relaxed)) {
    try {
      region->watch();
    } catch (const Error&) {  // taken as written
    }
  }
  const std::lock_guard lock(mutex_);
  region->name = name.empty() ? fmt::format("allocation {}", ++allocations_) : std::move(name);
  insert(std::move(region));
}

void MemoryMap::add_variables(const CheckTable& table) {
  for (uint32_t i = 0; i < table.variable_count; ++i) {
    const CheckVariable& v = table.variables[i];
    if (v.kind == VariableKind::shared) continue;
    const RegionKind kind = v.kind == VariableKind::global ? RegionKind::variable : RegionKind::constant;
    const std::string name = fmt::format("variable '{}'", v.name);
    if (const Region* there = find(v.address); there && there->low == v.address && there->name == name) continue;
    add(v.address, v.bytes, kind, name);
  }
}

void MemoryMap::name(const void* begin, const std::string& by) {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(number(begin));
  if (found == regions_.end()) return;
  found->second->name += fmt::format(" ({})", by);
  found->second->of_program = true;
}

bool MemoryMap::release(uint64_t low, const std::string& by) {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(low);
  if (found == regions_.end() || found->second->freed) return false;
  found->second->freed = true;
  found->second->freed_by = by;
  quarantine_.push_back(low);
  quarantine_bytes_ += found->second->bytes;
  shrink_quarantine();
  changed();
  return true;
}

void MemoryMap::shrink_quarantine() {
  if (launches_.load() > 0) return;  // they may hold regions
  while (quarantine_bytes_ > kQuarantineBytes && quarantine_.size() > 1) {
    const uint64_t low = quarantine_.front();
    quarantine_.erase(quarantine_.begin());
    const auto found = regions_.find(low);
    if (found == regions_.end()) continue;
    quarantine_bytes_ -= found->second->bytes;
    regions_.erase(found);
    std::free(reinterpret_cast<void*>(low));
  }
}

void MemoryMap::remove(uint64_t low) {
  const std::lock_guard lock(mutex_);
  regions_.erase(low);
  changed();
}

Region* MemoryMap::find(uint64_t address) {
  const std::shared_lock lock(mutex_);
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  Region* region = std::prev(after)->second.get();
  return region->holds(address) ? region : nullptr;
}

std::string MemoryMap::describe(uint64_t address, uint64_t bytes) {
  const std::shared_lock lock(mutex_);
  const auto after = regions_.upper_bound(address);
  const Region* before = after == regions_.begin() ? nullptr : std::prev(after)->second.get();
  const Region* behind = after == regions_.end() ? nullptr : after->second.get();
  const auto distance = [&](const Region* r) {
    if (!r) return UINT64_MAX;
    return r->holds(address) ? 0 : address < r->low ? r->low - address : address - r->low - r->bytes;
  };
  const Region* nearest = distance(before) <= distance(behind) ? before : behind;
  if (!nearest || distance(nearest) > kFar)
    return address < 4096 ? "a null pointer" : "not memory of the device; nothing of it is near";
  return relative(*nearest, address, bytes);
}

Watched MemoryMap::watched(const void* address, size_t bytes) {
  if (!watches_writes_.load(std::memory_order_relaxed)) return {};
  const Region* region = find(number(address));
  const Watched memory = region ? region->watched() : Watched{};
  return memory && bytes <= memory.end - number(address) ? memory : Watched{};
}

bool MemoryMap::before_copy(void* to, const void* from, size_t bytes) {
  return copy_shadow(watched(to, bytes), number(to), watched(from, bytes), number(from), bytes);
}

void MemoryMap::after_copy(void* to, size_t bytes) {
  if (const Watched memory = watched(to, bytes)) write_pattern(memory, number(to), bytes);
}

void MemoryMap::before_fill(void* to, size_t bytes) {
  if (const Watched memory = watched(to, bytes)) set_written(memory, number(to), bytes);
}

std::vector<MemoryMap::Leak> MemoryMap::leaks() {
  const std::shared_lock lock(mutex_);
  std::vector<Leak> out;
  for (const auto& [low, region] : regions_)
    if (!region->freed && region->of_program) out.push_back({region->name, region->bytes});
  return out;
}

}  // namespace trine::simt
