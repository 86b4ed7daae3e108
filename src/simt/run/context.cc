#include "simt/run/context.h"

#include <cstdint>

namespace trine::simt {

#if defined(__x86_64__)
// What the System V ABI lets a callee keep, then the stack pointer.
extern "C" void trine_simt_switch_stack(void** from, void* to);
asm(R"(
  .text
  .p2align 4
  .type trine_simt_switch_stack, @function
  .hidden trine_simt_switch_stack
  .globl trine_simt_switch_stack
trine_simt_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size trine_simt_switch_stack, . - trine_simt_switch_stack
)");

void RegisterContext::begin(char* low, size_t bytes, FibreEntry entry) {
  const auto top = (reinterpret_cast<uintptr_t>(low) + bytes) & ~uintptr_t{15};
  auto* slots = reinterpret_cast<uintptr_t*>(top) - 8;
  for (int i = 0; i < 6; ++i) slots[i] = 0;  // registers
  slots[6] = reinterpret_cast<uintptr_t>(entry);
  slots[7] = 0;  // the entry's return address: where a debugger stops
  stack_pointer_ = slots;
}

void RegisterContext::swap(RegisterContext& from, const RegisterContext& to) {
  trine_simt_switch_stack(&from.stack_pointer_, to.stack_pointer_);
}
#endif

void PortableContext::begin(char* low, size_t bytes, FibreEntry entry) {
  getcontext(&state_);
  state_.uc_stack.ss_sp = low;
  state_.uc_stack.ss_size = bytes;
  state_.uc_link = nullptr;
  makecontext(&state_, entry, 0);
}

void PortableContext::swap(PortableContext& from, const PortableContext& to) { swapcontext(&from.state_, &to.state_); }

}  // namespace trine::simt
