// A point of execution on a stack of its own, and how to switch between two. On x86-64 a switch is the saving of six
// registers; elsewhere it is ucontext's. Signal masks and floating-point modes are not switched.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace trine::simt {

using FibreEntry = void (*)();  // never returns

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRINE_TSAN_FIBRES 1
#endif
#endif

// The thread sanitizer follows one stack of calls for each fibre, when it is told of them; else this is nothing.
class SanitizerFibre {
 public:
#ifdef TRINE_TSAN_FIBRES
  ~SanitizerFibre();
  void begin() { begins_ = true; }
  static void switch_to(SanitizerFibre& from, const SanitizerFibre& to);

 private:
  mutable void* handle_ = nullptr;
  mutable bool begins_ = false, own_ = false;
#else
  void begin() {}
  static void switch_to(SanitizerFibre&, const SanitizerFibre&) {}
#endif
};

// A new context begins with `entry` on the stack of `bytes` at `low`. Switching saves where it is in `from` and goes on
// in `to`. Backtraces go on from the entry to where `caller` waits, if one is given.
#if defined(__x86_64__)
class RegisterContext {
 public:
  void begin(char* low, size_t bytes, FibreEntry entry, const RegisterContext* caller = nullptr);
  static void swap(RegisterContext& from, const RegisterContext& to);

 private:
  void* stack_pointer_ = nullptr;  // first: debuggers read it
  [[no_unique_address]] SanitizerFibre sanitizer_;
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
