// What the 32 threads of a warp do together.
#pragma once

#include "simt/run/executor.h"

namespace trine::simt {

std::string text_of(const WarpRequest& request);  // "shuffle with mask 0xffffffff"

void warp_after_exit(Executor& executor, Thread& thread);  // fails when lanes wait for it

// Threads of this warp that wait to learn who runs with them, and called from one place, go on together: the place of
// the lowest. Returns how many.
size_t converge(Executor& executor, Thread* lanes, Warp& warp);

}  // namespace trine::simt
