#include "cudart/checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "cudart/state.h"
#include "simt/check/check_set.h"
#include "simt/check/findings.h"
#include "simt/check/memory_map.h"

namespace trine::cudart {
namespace {

uint32_t chosen = 0;

void tell_leaks() {
  for (const simt::MemoryMap::Leak& leak : simt::MemoryMap::of_process().leaks()) {
    simt::Finding finding;
    finding.check = "memory";
    finding.about = fmt::format("leak: {} of {} bytes is not freed when the program ends", leak.name, leak.bytes);
    simt::report(finding);
  }
}

void end(int status, void*) {
  // After a failure calls that would free do nothing.
  if ((chosen & simt::kCheckMemory) && simt::findings_reported() == 0 && sticky_error() == cudaSuccess) tell_leaks();
  const uint64_t found = simt::findings_reported();
  if (!found) return;
  fmt::print(stderr, "trine check: {} finding{}\n", found, found == 1 ? "" : "s");
  if (status != 0) return;
  std::fflush(nullptr);
  _exit(1);
}

}  // namespace

void begin_checks(const std::vector<std::string>& checks) {
  if (checks.empty()) return;
  const uint32_t asked = simt::check_bits(checks);
  if (asked & simt::kCheckInit) simt::MemoryMap::of_process().watch_writes();
  simt::MemoryMap::of_process().enable();
  static std::once_flag once;
  std::call_once(once, [] { on_exit(end, nullptr); });
  chosen |= asked;
}

}  // namespace trine::cudart
