// The memory that the device "cpu" has given out, for who must know which addresses kernels may use.
#pragma once

#include <cstddef>

namespace trine::compute {

// What a watcher is told. Functions are called from any thread and never throw.
struct MemoryWatch {
  void (*allocated)(void* begin, size_t bytes, bool was_there);  // was_there: before the watch began
  bool (*released)(void* begin);                                 // true: the watcher calls std::free, later
};

// From now on, and of the blocks that there are. One watch for the life of the process.
void watch_memory(const MemoryWatch& watch);
const MemoryWatch* memory_watch();  // null when nobody watches

void note_block(void* begin, size_t bytes);
bool forget_block(void* begin);  // false: the watcher keeps it

}  // namespace trine::compute
