// TRINE_PROFILE: a program is recorded from its first to its last line, and its trace written at the end, however it
// ends: by exit(), by a failed kernel, by abort() or another signal. %p in the name of the file is the process.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "compute/profile/recorder.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine::compute::profile {
namespace {

constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGHUP};

char path[4096];  // empty: not asked for
std::atomic_flag written;

struct sigaction before[std::size(kSignals)];

// Of a signal: with system calls alone. Other threads may go on; what they add meanwhile is there or not.
void write_what_there_is() {
  if (written.test_and_set() || state().forked) return;
  listener.store(nullptr);
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  write_trace(file, true);
  ::close(file);
}

void handle(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  write_what_there_is();
  errno = error;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) continue;
    if (before[i].sa_flags & SA_SIGINFO) return before[i].sa_sigaction(signal, info, context);
    sigaction(signal, &before[i], nullptr);
  }
  raise(signal);  // kept back until this returns; then it ends the process as it would have
}

void install_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &action, nullptr);
  }
}

std::string without_placeholders(std::string name) {
  for (size_t at = name.find("%p"); at != std::string::npos; at = name.find("%p", at))
    name.replace(at, 2, std::to_string(getpid()));
  return name;
}

// Nothing that is wrong with the record may stop the program.
struct FromFirstToLast {
  FromFirstToLast() {
    try {
      const std::string name = without_placeholders(env_text("TRINE_PROFILE"));
      if (name.empty()) return;
      if (name.size() >= sizeof path) throw Error(ErrorCode::invalid_argument, "TRINE_PROFILE: the name is too long");
      Profiler::start({.most_events = static_cast<size_t>(env_integer("TRINE_PROFILE_EVENTS"))});
      if (env_integer("TRINE_PROFILE_PAUSED")) Profiler::pause();
      std::memcpy(path, name.data(), name.size());
      install_handlers();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
    }
  }
};
const FromFirstToLast recorded;

// Last of all: destructors of the program's objects may still use devices.
__attribute__((destructor)) void write_at_exit() {
  if (!path[0] || state().forked || written.test_and_set()) return;
  try {
    Profiler::stop();
    Profiler::write(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
}

}  // namespace
}  // namespace trine::compute::profile
