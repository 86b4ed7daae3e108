#include "compute/live_memory.h"

#include <atomic>
#include <map>
#include <mutex>

namespace trine::compute {
namespace {

struct Blocks {
  std::mutex mutex;
  std::map<void*, size_t> all;
};

// Never destroyed: objects of the program may free memory after main.
Blocks& blocks() {
  static Blocks& held = *new Blocks;
  return held;
}

std::atomic<const MemoryWatch*> watcher{nullptr};

}  // namespace

const MemoryWatch* memory_watch() { return watcher.load(std::memory_order_acquire); }

void watch_memory(const MemoryWatch& watch) {
  Blocks& held = blocks();
  const std::lock_guard lock(held.mutex);
  if (watcher.exchange(&watch)) return;
  for (const auto& [begin, bytes] : held.all) watch.allocated(begin, bytes, true);
}

void note_block(void* begin, size_t bytes) {
  Blocks& held = blocks();
  const std::lock_guard lock(held.mutex);
  held.all[begin] = bytes;
  if (const MemoryWatch* watch = memory_watch()) watch->allocated(begin, bytes, false);
}

bool forget_block(void* begin) {
  Blocks& held = blocks();
  const std::lock_guard lock(held.mutex);
  held.all.erase(begin);
  const MemoryWatch* watch = memory_watch();
  return !watch || !watch->released(begin);
}

}  // namespace trine::compute
