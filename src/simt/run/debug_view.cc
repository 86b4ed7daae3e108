#include "simt/run/debug_view.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>

#include "simt/run/thread_queue.h"

namespace trine::simt {

extern "C" {
extern DebugLayout trine_simt_debug;
__attribute__((visibility("default"), used)) DebugLayout trine_simt_debug = {
    .thread_bytes = sizeof(Thread),
    .where = offsetof(Thread, state) + offsetof(ThreadState, where),
    .wait = offsetof(Thread, wait),
    .exited = offsetof(Thread, exited),
    .barrier = offsetof(Thread, barrier),
    .fibre = offsetof(Thread, fibre)};
}
static_assert(offsetof(Thread, state) == 0 && offsetof(Fibre, context) == 0);

namespace {

std::mutex& list_mutex() {
  static std::mutex& mutex = *new std::mutex;  // threads may end after destructors have begun
  return mutex;
}

}  // namespace

void show_debugger(DebugExecutor& executor) {
  executor.host_thread = syscall(SYS_gettid);
  const std::lock_guard lock(list_mutex());
  executor.next = trine_simt_debug.first;
  trine_simt_debug.first = &executor;
}

void hide_from_debugger(DebugExecutor& executor) {
  const std::lock_guard lock(list_mutex());
  const DebugExecutor** at = &trine_simt_debug.first;
  while (*at && *at != &executor) at = const_cast<const DebugExecutor**>(&(*at)->next);
  if (*at) *at = executor.next;
}

}  // namespace trine::simt
