// One launch on the CPU: what its blocks share.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "compute/trace.h"
#include "simt/compiler.h"
#include "trine/base/error.h"

namespace trine::simt {

class LaunchChecks;

struct CpuLaunch {
  const char* name;  // of the kernel, in messages
  CpuKernel code;
  const void* parameters;  // the block of parameters
  compute::LaunchShape shape;
  bool on_caller = false;  // one block after the other, on the thread that launches: what a debugger follows
  const compute::TraceEvent* trace = nullptr;  // of a profiler, which blocks are told to as well
  LaunchChecks* checks = nullptr;              // null: nothing is checked
  std::atomic<uint32_t>* block_ns = nullptr;   // of a block of this kernel when it ran last; 0: not known yet

  std::atomic<uint64_t> next{0};    // block that nobody has taken
  std::atomic<bool> failed{false};  // no further blocks are taken
  std::mutex mutex;
  std::string error;  // of the block that failed first
  ErrorCode error_code = ErrorCode::device;

  void fail(ErrorCode code, const std::string& message);
};

constexpr uint32_t kMostSharedBytes = 227 << 10;      // of a block, as on an H200
constexpr uint64_t kMostCooperativeThreads = 16'384;  // each has a stack

// Runs all blocks, in ascending order, and returns when they are done. Throws Error{device} when one fails,
// Error{invalid_argument} for a shape that cannot run, Error{out_of_memory}.
void run_launch(CpuLaunch& launch);

}  // namespace trine::simt
