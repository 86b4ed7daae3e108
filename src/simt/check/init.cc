// The check `init`: reads of memory that nobody has written. Copies of memory are no reads (shadow.h).
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

Shadow& stack_shadow(Fibre& fibre) {
  if (!fibre.shadow) fibre.shadow = std::make_unique<Shadow>(kStackBytes);
  return *fibre.shadow;
}

uint64_t number(const char* address) { return reinterpret_cast<uint64_t>(address); }

Watched watched(Here& here, uint64_t address) {
  Fibre& fibre = *here.thread.fibre;
  if (fibre.holds(reinterpret_cast<const void*>(address))) {
    const uint64_t low = number(fibre.low);
    return {stack_shadow(fibre).base(low), false, low, low + kStackBytes};
  }
  if (here.block.shared().holds(address)) return here.block.shared().watched();
  const Region* region = MemoryMap::of_process().find(address);
  return region ? region->watched() : Watched{};
}

std::string owner(Here& here, const CheckSite& site, uint64_t address) {
  if (here.executor.stack_holds(reinterpret_cast<const void*>(address)))
    return *site.variable ? fmt::format("local variable '{}'", site.variable) : "local memory";
  if (here.block.shared().holds(address)) return owner_text(here.launch, here.block.shared(), address);
  const Region* region = MemoryMap::of_process().find(address);
  return region ? owner_text(here.launch, *region, address) : "";
}

constexpr int kKind = 3;  // after those of races

}  // namespace

extern "C" {

char* trine_check_stack() {
  Fibre& fibre = *Executor::running()->current().fibre;
  return stack_shadow(fibre).base(number(fibre.low));
}

void trine_check_unwritten(uint64_t address, uint64_t bytes, uint32_t site) {
  Here here;
  const Watched memory = watched(here, address);
  const uint64_t at = memory ? first_unwritten(memory, address, bytes) : 0;
  if (!at || here.launch.is_known({site, 0, kKind})) return;
  const CheckSite& row = here.launch.site(site);
  Finding finding;
  finding.check = "init";
  finding.kernel = here.launch.kernel;
  finding.about = "read of what was never written";
  finding.owner = owner(here, row, at);
  finding.address = at;
  finding.accesses = {{row.place, access_text(row, bytes),
                       here.launch.thread_text(here.block.order.block(), here.thread.state.linear)}};
  here.launch.add({site, 0, kKind}, std::move(finding));
}

void trine_check_written(uint64_t address, uint64_t bytes) {
  Here here;
  if (const Watched memory = watched(here, address)) set_written(memory, address, bytes);
}

int32_t trine_check_copy(uint64_t to, char* to_shadow, uint64_t from, char* from_shadow, uint64_t bytes) {
  if (!to_shadow || bytes == 0) return 0;
  const bool clean = !from_shadow || is_clean(from_shadow + from, bytes);
  if (clean && is_clean(to_shadow + to, bytes)) return 0;
  Here here;
  const Watched source = from_shadow ? watched(here, from) : Watched{};
  return copy_shadow(watched(here, to), to, source, from, bytes);
}

void trine_check_copied(uint64_t to, uint64_t bytes) {
  Here here;
  if (const Watched memory = watched(here, to)) write_pattern(memory, to, bytes);
}

}  // extern "C"

}  // namespace trine::simt
