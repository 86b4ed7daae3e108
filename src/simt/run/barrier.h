// Barriers of a block.
#pragma once

#include "simt/run/executor.h"

namespace trine::simt {

void barriers_after_exit(Executor& executor, Block& block);  // threads that have exited are not waited for

}  // namespace trine::simt
