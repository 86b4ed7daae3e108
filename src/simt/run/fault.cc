// The handler runs on the signal stack and only moves the thread: when it returns, the thread goes on in report() on a
// stack of its own, outside of signal context, where the launch is failed like any other. A fault while the runtime
// itself was at work (in malloc, in printf) is not survived, only announced: its locks may be held. Other faults go to
// the handlers that were there before.
#include "simt/run/fault.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "simt/run/executor.h"

namespace trine::simt {
namespace {

constexpr size_t kSignalBytes = 64 << 10, kReportBytes = 64 << 10;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

std::array<struct sigaction, std::size(kSignals)> previous;

struct Fault {
  int signal;
  bool writes;
  const void* address;
};
thread_local Fault latest;

std::string describe(const Executor& executor) {
  const auto address = reinterpret_cast<uintptr_t>(latest.address);
  if (latest.signal == SIGFPE) return "division by zero";
  if (latest.signal == SIGILL) return "an instruction that is none, or code that can never be reached";
  if (executor.stack_overflows_at(latest.address))
    return fmt::format("stack overflow: it has {} KiB; deep recursion or large local arrays", kStackBytes >> 10);
  // Not told apart when the address is not canonical.
  return fmt::format("{} of {:#x}, where it has no memory", latest.writes ? "write" : "read", address);
}

[[noreturn]] void report() {
  Executor& executor = *Executor::running();
  executor.fail(describe(executor) + executor.place_before());
}

#if defined(__x86_64__)
bool move_to_report(Executor& executor, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  latest.writes = registers[REG_ERR] & 2;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&report);
  registers[REG_RSP] = reinterpret_cast<greg_t>(executor.report_top()) - 8;  // as after a call
  return true;
}
#else
bool move_to_report(Executor&, void*) { return false; }
#endif

void go_before(int signal, siginfo_t* info, void* context) {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) continue;
    const struct sigaction& old = previous[i];
    if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(signal, info, context);
    if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
    sigaction(signal, &old, nullptr);  // happens again, and ends the process
  }
}

// The process ends: this much can be said in a handler.
void announce(const Executor& executor, int signal) {
  char text[512];
  const int bytes = executor.describe_for_signal(text, sizeof(text), signal);
  if (bytes > 0 && write(STDERR_FILENO, text, std::min(static_cast<size_t>(bytes), sizeof(text) - 1)) < 0) return;
}

void handle(int signal, siginfo_t* info, void* context) {
  Executor* executor = Executor::running();
  const bool sent = info->si_code <= 0;  // by kill() or raise(): none of our business
  if (executor && !sent && !executor->inside_runtime) {
    latest = {signal, false, info->si_addr};
    if (move_to_report(*executor, context)) return;
  }
  if (executor && !sent) announce(*executor, signal);
  go_before(signal, info, context);
}

void install_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &previous[i]);
}

}  // namespace

FaultStack::FaultStack() {
  static std::once_flag once;
  std::call_once(once, install_handlers);
  latest = {};  // thread-local memory is there before a signal comes
  void* memory = mmap(nullptr, kSignalBytes + kReportBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error(ErrorCode::out_of_memory, "launch: no stack for signals");
  memory_ = static_cast<char*>(memory);
  stack_t now;
  sigaltstack(nullptr, &now);
  if (!(now.ss_flags & SS_DISABLE)) return;
  const stack_t ours = {.ss_sp = memory_, .ss_flags = 0, .ss_size = kSignalBytes};
  installed_ = sigaltstack(&ours, nullptr) == 0;
}

FaultStack::~FaultStack() {
  if (installed_) {
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
  }
  munmap(memory_, kSignalBytes + kReportBytes);
}

char* FaultStack::report_top() const { return memory_ + kSignalBytes + kReportBytes; }

}  // namespace trine::simt
