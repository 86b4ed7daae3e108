// Faults of kernels (SIGSEGV, SIGBUS, SIGFPE, SIGILL) become errors of their launch.
#pragma once

#include <cstddef>

namespace trine::simt {

// The stack on which this thread handles signals, and the one on which it reports what they say: a kernel's own may be
// used up. One for each thread that runs kernels; a signal stack that the thread has already is kept.
class FaultStack {
 public:
  FaultStack();
  ~FaultStack();
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;
  char* report_top() const;

 private:
  char* memory_ = nullptr;
  bool installed_ = false;
};

}  // namespace trine::simt
