#include "simt/compile/fatal_errors.h"

#include <llvm/Support/ErrorHandling.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

thread_local const FatalErrors* innermost = nullptr;

// LLVM has one handler for all threads: the first of these objects sets it, the last takes it away.
std::mutex mutex;
int living = 0;

}  // namespace

FatalErrors::FatalErrors(std::string where) : where_(std::move(where)), outer_(std::exchange(innermost, this)) {
  const std::lock_guard lock(mutex);
  if (living++ == 0) llvm::install_fatal_error_handler(&raise);
}

FatalErrors::~FatalErrors() {
  innermost = outer_;
  const std::lock_guard lock(mutex);
  if (--living == 0) llvm::remove_fatal_error_handler();
}

void FatalErrors::raise(void*, const char* reason, bool) {
  if (!innermost) return;                       // another thread's: LLVM ends the process as it does without us
  const char* end = std::strchr(reason, '\n');  // after it come addresses of its data
  throw Error(ErrorCode::unsupported, innermost->where_ + ": " + (end ? std::string(reason, end) : reason));
}

}  // namespace trine::simt
