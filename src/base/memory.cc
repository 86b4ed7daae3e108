#include "base/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>

#include "trine/base/env.h"

namespace trine {
namespace {

std::atomic<int64_t> bytes_alive{0};
std::atomic<int64_t> cap{std::numeric_limits<int64_t>::max()};

// A container's limit, where there is one; "max" and a missing file: none.
int64_t control_group_limit() {
  int64_t bytes = std::numeric_limits<int64_t>::max();
  if (std::FILE* file = std::fopen("/sys/fs/cgroup/memory.max", "re")) {
    if (std::fscanf(file, "%ld", &bytes) != 1) bytes = std::numeric_limits<int64_t>::max();
    std::fclose(file);
  }
  return bytes;
}

int64_t find_limit() {
  if (const int64_t wanted = env_integer("TRINE_MAX_MEM"); wanted > 0)
    return wanted < (int64_t{1} << 40) ? wanted << 20 : wanted;
  const int64_t machine = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  return std::min(machine, control_group_limit());
}

}  // namespace

int64_t memory_limit() {
  static const int64_t limit = find_limit();
  return std::min(limit, cap.load(std::memory_order_relaxed));
}

int64_t memory_in_use() { return bytes_alive.load(std::memory_order_relaxed); }

MemoryCap::MemoryCap(size_t bytes) : before_(cap) {
  if (bytes > 0 && bytes < static_cast<size_t>(before_)) cap = static_cast<int64_t>(bytes);
}
MemoryCap::~MemoryCap() { cap = before_; }

void need_memory(double bytes) {
  const int64_t alive = bytes_alive.load(std::memory_order_relaxed);
  if (bytes + static_cast<double>(alive) <= static_cast<double>(memory_limit())) return;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("memory: {:.0f} bytes are wanted and {} used, of {} that may be used (--max-mem or TRINE_MAX_MEM, in "
                  "MiB); make the shapes smaller",
                  bytes, alive, memory_limit()));
}

void take_memory(int64_t bytes) { bytes_alive.fetch_add(bytes, std::memory_order_relaxed); }
void give_memory(int64_t bytes) { bytes_alive.fetch_sub(bytes, std::memory_order_relaxed); }

}  // namespace trine
