#include "simt/check/block_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace trine::simt {

void BlockChecks::begin(LaunchChecks& of, uint32_t block, char* shared, uint64_t shared_bytes) {
  launch = &of;
  order.begin(block, static_cast<uint32_t>(of.shape.block.volume()));
  const auto low = reinterpret_cast<uint64_t>(shared);
  const bool moved = !shared_ || shared_->low != low || shared_->bytes != shared_bytes;
  if (!shared_ || shared_bytes > shared_capacity_) {
    shared_ = std::make_unique<Region>();
    shared_->bytes = shared_capacity_ = shared_bytes;  // of the cells that are made
    shared_->kind = RegionKind::shared;
    shared_->name = "shared memory";
    shared_->cells();
  }
  shared_->low = low;
  shared_->bytes = shared_bytes;
  if (of.checks(kCheckInit)) shared_->watch();
  const uint64_t now = MemoryMap::of_process().generation();
  if (table_ == &of.table && generation_ == now && !moved) return;
  table_ = &of.table;
  forget_regions();
}

void BlockChecks::forget_regions() {
  generation_ = MemoryMap::of_process().generation();
  caches.assign(table_->site_count, CheckCache{1, 0, nullptr, nullptr});
}

std::string access_text(const CheckSite& site, uint64_t bytes) {
  const bool reads = site.flags & kSiteReads, writes = site.flags & kSiteWrites;
  const char* kind = site.flags & kSiteAtomic ? (writes ? "atomic operation" : "atomic read")
                     : writes                 ? (site.flags & kSiteVolatile ? "volatile write" : "write")
                                              : (site.flags & kSiteVolatile ? "volatile read" : "read");
  return fmt::format("{} {} {} byte{}", kind, reads && writes ? "on" : "of", bytes, bytes == 1 ? "" : "s");
}

const CheckVariable* shared_variable(const CheckTable& table, uint64_t offset, uint64_t& end, uint64_t arena_bytes) {
  const CheckVariable* best = nullptr;
  for (uint32_t i = 0; i < table.variable_count; ++i) {
    const CheckVariable& v = table.variables[i];
    if (v.kind != VariableKind::shared || v.address > offset) continue;
    if (!best || v.address > best->address || (v.address == best->address && v.bytes > best->bytes)) best = &v;
  }
  if (best) end = best->bytes ? best->address + best->bytes : arena_bytes;  // without a size: dynamic
  return best;
}

std::string owner_text(const LaunchChecks& launch, const Region& region, uint64_t address) {
  const uint64_t offset = address - region.low;
  if (region.kind != RegionKind::shared) return fmt::format("{} + {}", region.name, offset);
  uint64_t end = 0;
  const CheckVariable* v = shared_variable(launch.table, offset, end, region.bytes);
  if (!v) return fmt::format("shared memory + {}", offset);
  return fmt::format("'{}' + {} in shared memory", v->name, offset - v->address);
}

}  // namespace trine::simt
