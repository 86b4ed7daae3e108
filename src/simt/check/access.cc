// What checked code calls (abi.h).
#include <fmt/format.h>

#include "simt/check/block_checks.h"
#include "simt/run/executor.h"

namespace trine::simt {
namespace {

struct Here {
  Executor& executor = *Executor::running();
  Thread& thread = executor.current();
  BlockChecks& block = *executor.block_of(thread).checks;
  LaunchChecks& launch = *block.launch;
};

[[noreturn]] void fail(Here& here, const CheckSite& site, uint64_t bytes, uint64_t address, const std::string& about,
                       const std::string& owner) {
  Finding finding;
  finding.check = "memory";
  finding.kernel = here.launch.kernel;
  finding.about = about;
  finding.owner = owner;
  finding.address = address;
  finding.accesses = {{site.place, access_text(site, bytes),
                       here.launch.thread_text(here.block.order.block(), here.thread.state.linear)}};
  const std::string text = text_of(finding);
  here.launch.add(std::move(finding));
  here.executor.fail_launch(ErrorCode::device, text);
}

bool covers(uint64_t low, uint64_t bytes, uint64_t address, uint64_t length) {
  return address - low < bytes && length <= bytes - (address - low);
}

void remember(Here& here, uint32_t site, uint64_t low, uint64_t bytes, uint64_t length, Region* region) {
  here.block.caches[site] = {low, bytes - length + 1, region, region ? region->watched().shadow : nullptr};
}

// The variable that holds the address, or the dynamic part, is all that an access may touch.
void locate_shared(Here& here, uint64_t address, uint64_t length, uint32_t site) {
  Region& arena = here.block.shared();
  uint64_t low = arena.low, end = arena.low + arena.bytes;
  uint64_t variable_end = 0;
  const CheckVariable* v = shared_variable(here.launch.table, address - arena.low, variable_end, arena.bytes);
  if (v && here.launch.checks(kCheckMemory)) {
    low = arena.low + v->address;
    end = arena.low + variable_end;
  }
  if (covers(low, end - low, address, length)) return remember(here, site, low, end - low, length, &arena);
  const uint64_t past = address + length - end;
  fail(here, here.launch.site(site), length, address, "out of bounds",
       v ? fmt::format("{} byte{} past the end of '{}' of {} bytes in shared memory", past, past == 1 ? "" : "s",
                       v->name, end - low)
         : owner_text(here.launch, arena, address));
}

bool locate_global(Here& here, Region& region, uint64_t address, uint64_t length, uint32_t site) {
  const CheckSite& row = here.launch.site(site);
  const bool checks = here.launch.checks(kCheckMemory);
  const bool inside = covers(region.low, region.bytes, address, length);
  if (checks && region.freed)
    fail(here, row, length, address, "use after free", MemoryMap::of_process().describe(address, length));
  if (checks && region.kind == RegionKind::constant && (row.flags & kSiteWrites))
    fail(here, row, length, address, "write of constant memory", MemoryMap::of_process().describe(address, length));
  if (!inside) return false;
  const bool raced = region.kind != RegionKind::constant && !region.freed;
  remember(here, site, region.low, region.bytes, length, raced ? &region : nullptr);
  return true;
}

}  // namespace

extern "C" {

void trine_check_locate(uint64_t address, uint64_t bytes, uint32_t site) {
  Here here;
  const CheckSite& row = here.launch.site(site);
  if (bytes == 0) {
    here.block.caches[site] = {1, 0, nullptr, nullptr};
    return;
  }
  if (here.launch.checks(kCheckMemory) && address % row.align != 0)
    fail(here, row, bytes, address, fmt::format("misaligned: {:#x} is no multiple of {}", address, row.align),
         MemoryMap::of_process().describe(address, bytes));
  if (here.block.shared().holds(address)) return locate_shared(here, address, bytes, site);
  const bool local = here.executor.stack_holds(reinterpret_cast<const void*>(address));
  if (local || covers(here.launch.parameters, here.launch.parameter_bytes, address, bytes)) {
    here.block.caches[site] = {1, 0, nullptr, local && here.launch.checks(kCheckInit) ? trine_check_stack() : nullptr};
    return;
  }
  Region* region = MemoryMap::of_process().find(address);
  if (region && locate_global(here, *region, address, bytes, site)) return;
  if (here.launch.checks(kCheckMemory))
    fail(here, row, bytes, address, "out of bounds", MemoryMap::of_process().describe(address, bytes));
  here.block.caches[site] = {1, 0, nullptr, nullptr};
}

void trine_check_access(uint64_t address, uint64_t bytes, uint64_t value, uint32_t site) {
  Here here;
  auto* region = static_cast<Region*>(here.block.caches[site].region);
  if (!region) return;
  const CheckSite& row = here.launch.site(site);
  const bool synchronises = row.flags & (kSiteAtomic | kSiteVolatile);
  const BlockOrder& order = here.block.order;
  if (synchronises && (row.flags & kSiteWrites) && order.fenced_for_block())
    here.launch.hand_over(address, {order.fenced_for_device(), order.fenced_for_block(), order.block()});
  check_race(here.block, *region, address, bytes, value, site, here.thread.state.linear);
}

void trine_check_acquire(uint64_t address, uint32_t site) {
  Here here;
  if (!here.block.caches[site].region) return;
  HandedOver what;
  if (!here.launch.handed_over(address, what)) return;
  const bool of_this_block = what.block == here.block.order.block();
  here.block.order.acquire(here.thread.state.linear, of_this_block ? what.of_block : what.device, what.device);
}

void trine_check_fence(int32_t whole_device) { Here().block.order.fence(whole_device != 0); }

void trine_check_local(uint64_t offset, uint64_t variable_bytes, const char* variable, uint32_t site) {
  Here here;
  const CheckSite& row = here.launch.site(site);
  const auto at = static_cast<int64_t>(offset);
  const auto total = static_cast<int64_t>(variable_bytes);
  const std::string where = at < 0 ? fmt::format("{} bytes before '{}' of {} bytes", -at, variable, total)
                            : at >= total
                                ? fmt::format("{} bytes past the end of '{}' of {} bytes", at - total, variable, total)
                                : fmt::format("byte {} of '{}' of {} bytes, and beyond its end", at, variable, total);
  fail(here, row, row.bytes, 0, "out of bounds", where);
}

}  // extern "C"

}  // namespace trine::simt
