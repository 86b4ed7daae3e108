// Fibres: stacks with a guard page below, and the context that runs there. Kept by the thread that made them.
#pragma once

#include <memory>
#include <vector>

#include "simt/check/shadow.h"
#include "simt/run/context.h"

namespace trine::simt {

// As much as a CUDA thread may have of local memory, and what the runtime needs itself. Pages are there once touched.
constexpr size_t kStackBytes = (512 + 64) << 10;

struct Fibre {
  Context context;
  char* low = nullptr;             // the guard page lies below
  std::unique_ptr<Shadow> shadow;  // of the stack, once a checked kernel asks for it

  bool holds(const void* address) const {
    const auto* p = static_cast<const char*>(address);
    return p >= low && p < low + kStackBytes;
  }
  bool overflows_at(const void* address) const;
};

class FibrePool {
 public:
  // `caller` is who waits while fibres run, to be found by backtraces.
  FibrePool(FibreEntry entry, const Context& caller) : entry_(entry), caller_(&caller) {}
  ~FibrePool();
  FibrePool(const FibrePool&) = delete;
  FibrePool& operator=(const FibrePool&) = delete;

  Fibre& take();            // throws Error{out_of_memory}; begins with the entry, or goes on where it was given back
  void give(Fibre& fibre);  // it will be resumed by who takes it
  void restart(Fibre& fibre);
  void restart_all();      // what they were at is dropped; all are free again
  void keep(size_t most);  // gives back the stacks beyond so many; all must be free

 private:
  FibreEntry entry_;
  const Context* caller_;
  std::vector<std::unique_ptr<Fibre>> all_;
  std::vector<Fibre*> idle_;
};

}  // namespace trine::simt
