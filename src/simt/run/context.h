// A point of execution on a stack of its own, and how to switch between two. On x86-64 a switch is the saving of six
// registers; elsewhere it is ucontext's. Signal masks and floating-point modes are not switched.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace trine::simt {

using FibreEntry = void (*)();  // never returns

// A new context begins with `entry` on the stack of `bytes` at `low`. Switching saves where it is in `from` and goes on
// in `to`. Backtraces go on from the entry to where `caller` waits, if one is given.
#if defined(__x86_64__)
class RegisterContext {
 public:
  void begin(char* low, size_t bytes, FibreEntry entry, const RegisterContext* caller = nullptr);
  static void swap(RegisterContext& from, const RegisterContext& to);

 private:
  void* stack_pointer_ = nullptr;
};
#endif

class PortableContext {
 public:
  void begin(char* low, size_t bytes, FibreEntry entry, const PortableContext* caller = nullptr);
  static void swap(PortableContext& from, const PortableContext& to);

 private:
  ucontext_t state_;
};

#if defined(__x86_64__)
using Context = RegisterContext;
#else
using Context = PortableContext;
#endif

}  // namespace trine::simt
