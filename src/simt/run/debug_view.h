// What debuggers read of kernels in mode `threads` while they run (tools/gdb/trine.py). The library may have no
// debug information, so these are plain words, found by the name trine_simt_debug.
#pragma once

#include <cstdint>

namespace trine::simt {

// Of one host thread that has run kernels.
struct DebugExecutor {
  const DebugExecutor* next = nullptr;
  int64_t host_thread = 0;        // as the system numbers it
  const char* kernel = nullptr;   // null: none runs
  const void* threads = nullptr;  // CUDA threads of the blocks that are here: `thread_count` of Thread
  uint64_t thread_count = 0, block_threads = 0, first_block = 0;
  const void* begun = nullptr;    // size_t: so many have begun
  const void* current = nullptr;  // Thread*: the one that runs
};

// Where the fields of a Thread are, in bytes. Its ThreadState comes first: simt/run/abi.h.
struct DebugLayout {
  uint64_t version = 1;
  uint64_t thread_bytes, where, wait, exited, barrier, fibre;
  const DebugExecutor* first = nullptr;
};

// The list; both may be called from any thread.
void show_debugger(DebugExecutor& executor);
void hide_from_debugger(DebugExecutor& executor);

}  // namespace trine::simt
