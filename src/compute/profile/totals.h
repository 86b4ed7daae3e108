// Sums over all threads, name by name, without memory: for Profiler::profile() and for the end of a trace.
#pragma once

#include "compute/profile/recorder.h"

namespace trine::compute::profile {

// "kernel", "copy", ...: what a row is called.
const char* kind_of(What what);

// Calls `row(const TraceName&, const Sums&)` for each name that has calls.
template <class Row>
void for_each_row(bool locked, const Row& row) {
  for (const TraceName* name = all_names(); name; name = name->next) {
    Sums sums;
    for (ThreadLog* log = all_logs(); log; log = log->next) {
      if (locked) log->lock.lock();
      if (name->id < log->sums_count) sums.add(log->sums[name->id]);
      if (locked) log->lock.unlock();
    }
    if (sums.calls) row(*name, sums);
  }
}

}  // namespace trine::compute::profile
