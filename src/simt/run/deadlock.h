// The message for threads that wait for what can never come.
#pragma once

#include <span>
#include <string>

#include "simt/run/thread_queue.h"

namespace trine::simt {

// A line for each run of threads that wait for the same at the same place; at most sixteen.
std::string deadlock_text(const char* kernel, std::span<const Thread> threads);

}  // namespace trine::simt
