#include "simt/run/context.h"

#include <cstdint>

#ifdef TRINE_TSAN_FIBRES
#include <sanitizer/tsan_interface.h>
#endif

namespace trine::simt {

#ifdef TRINE_TSAN_FIBRES
SanitizerFibre::~SanitizerFibre() {
  if (own_) __tsan_destroy_fiber(handle_);
}

// A fibre that begins again has no calls on its stack. One that begins itself again stays until the program ends.
void SanitizerFibre::switch_to(SanitizerFibre& from, const SanitizerFibre& to) {
  void* here = __tsan_get_current_fiber();
  if (!from.handle_) from.handle_ = here;
  if (to.begins_) {
    if (to.own_ && to.handle_ != here) __tsan_destroy_fiber(to.handle_);
    to.handle_ = __tsan_create_fiber(0);
    to.own_ = true;
    to.begins_ = false;
  }
  __tsan_switch_to_fiber(to.handle_, 0);
}
#endif

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

// Where entries seem to have been called, for whoever walks stacks: never run. The word above the return address points
// at the caller's context, so the caller's frame ends 56 bytes above what is found there: DW_CFA_def_cfa_expression of
// DW_OP_breg7 0, DW_OP_deref, DW_OP_deref, DW_OP_plus_uconst 56; its registers lie where the switch has saved them.
extern "C" void trine_simt_host_thread();
asm(R"(
  .text
  .p2align 4
  .type trine_simt_host_thread, @function
  .hidden trine_simt_host_thread
  .globl trine_simt_host_thread
trine_simt_host_thread:
  .cfi_startproc
  .cfi_escape 0x0f, 0x06, 0x77, 0x00, 0x06, 0x06, 0x23, 0x38
  .cfi_offset %rip, -8
  .cfi_offset %rbp, -16
  .cfi_offset %rbx, -24
  .cfi_offset %r12, -32
  .cfi_offset %r13, -40
  .cfi_offset %r14, -48
  .cfi_offset %r15, -56
  nop
  ud2
  .cfi_endproc
  .size trine_simt_host_thread, . - trine_simt_host_thread
)");

void RegisterContext::begin(char* low, size_t bytes, FibreEntry entry, const RegisterContext* caller) {
  const auto top = (reinterpret_cast<uintptr_t>(low) + bytes) & ~uintptr_t{15};
  auto* slots = reinterpret_cast<uintptr_t*>(top) - 10;
  for (int i = 0; i < 6; ++i) slots[i] = 0;  // registers
  slots[6] = reinterpret_cast<uintptr_t>(entry);
  // The entry's return address; 0 is where debuggers stop.
  slots[7] = caller ? reinterpret_cast<uintptr_t>(&trine_simt_host_thread) + 1 : 0;
  slots[8] = reinterpret_cast<uintptr_t>(caller);
  stack_pointer_ = slots;
  sanitizer_.begin();
}

void RegisterContext::swap(RegisterContext& from, const RegisterContext& to) {
  SanitizerFibre::switch_to(from.sanitizer_, to.sanitizer_);
  trine_simt_switch_stack(&from.stack_pointer_, to.stack_pointer_);
}
#endif

void PortableContext::begin(char* low, size_t bytes, FibreEntry entry, const PortableContext*) {
  getcontext(&state_);
  state_.uc_stack.ss_sp = low;
  state_.uc_stack.ss_size = bytes;
  state_.uc_link = nullptr;
  makecontext(&state_, entry, 0);
}

void PortableContext::swap(PortableContext& from, const PortableContext& to) { swapcontext(&from.state_, &to.state_); }

}  // namespace trine::simt
