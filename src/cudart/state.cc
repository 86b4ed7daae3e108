#include "cudart/state.h"

#include <fmt/format.h>

#include <cstdio>

#include "cudart/programs.h"
#include "trine/base/env.h"

namespace trine::cudart {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
std::mutex sticky_mutex;
std::string& sticky_words() {
  static std::string& words = *new std::string;
  return words;
}
thread_local cudaError_t last = cudaSuccess;

Machine choose() {
  const std::string wanted = env_text("TRINE_DEVICE");
  const compute::BackendTable *cpu = compute::find_backend("cpu"), *cuda = compute::find_backend("cuda");
  if (wanted != "" && wanted != "cpu" && wanted != "cuda")
    throw Error(ErrorCode::invalid_argument, fmt::format("TRINE_DEVICE: got '{}'; accepted are cpu and cuda", wanted));
  const bool gpu = wanted == "cuda" || (wanted.empty() && carries_gpu_code() && cuda && cuda->device_count() > 0);
  const compute::BackendTable* table = gpu ? cuda : cpu;
  const int devices = table ? table->device_count() : 0;
  return {table, compute::find_kernel_table(gpu ? "cuda" : "cpu"), devices, gpu};
}

bool has(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

// Which error of CUDA's the words of a device's failure stand for.
cudaError_t code_of_device(const std::string& text) {
  if (has(text, "assertion") || has(text, "CUDA_ERROR_ASSERT")) return cudaErrorAssert;
  if (has(text, "trine check: memory: misaligned")) return cudaErrorMisalignedAddress;
  if (has(text, "trine check: memory")) return cudaErrorIllegalAddress;
  if (has(text, "where it has no memory") || has(text, "ILLEGAL_ADDRESS")) return cudaErrorIllegalAddress;
  if (has(text, "misaligned") || has(text, "MISALIGNED")) return cudaErrorMisalignedAddress;
  if (has(text, "instruction that is none") || has(text, "ILLEGAL_INSTRUCTION")) return cudaErrorIllegalInstruction;
  if (has(text, "stack overflow") || has(text, "HARDWARE_STACK")) return cudaErrorHardwareStackError;
  return cudaErrorLaunchFailure;
}

cudaError_t code_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::out_of_memory: return cudaErrorMemoryAllocation;
    case ErrorCode::device: return code_of_device(error.what());
    case ErrorCode::unsupported: return cudaErrorNotSupported;
    case ErrorCode::invalid_argument:
      return has(error.what(), "ALREADY_REGISTERED") ? cudaErrorHostMemoryAlreadyRegistered : cudaErrorInvalidValue;
    default: return cudaErrorUnknown;
  }
}

void say(cudaError_t code, const std::string& text) noexcept {
  try {
    if (!text.empty() && debug_shows(DebugLevel::devices))
      fmt::print(stderr, "trine cudart: {}: {}\n", cudaGetErrorName(code), text);
  } catch (...) {
    return;  // stderr is closed, or TRINE_DEBUG is no number
  }
}

}  // namespace

const Machine& machine() {
  static const Machine chosen = choose();
  if (!chosen.devices) fail(cudaErrorNoDevice, chosen.table && chosen.table->why_none ? chosen.table->why_none() : "");
  return chosen;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

cudaError_t keep_error(const Failure& failure) noexcept {
  last = failure.code;
  say(failure.code, failure.text);
  return last;
}

cudaError_t keep_error(const Error& error) noexcept {
  last = code_of(error);
  say(last, error.what());
  if (error.code() != ErrorCode::device) return last;
  const std::lock_guard lock(sticky_mutex);
  if (sticky.load() == cudaSuccess) sticky_words() = error.what();
  sticky.store(last);
  return last;
}

cudaError_t sticky_error() noexcept { return sticky.load(std::memory_order_acquire); }

std::string sticky_text() {
  const std::lock_guard lock(sticky_mutex);
  return sticky_words();
}

void clear_sticky_error() noexcept {
  const std::lock_guard lock(sticky_mutex);
  sticky.store(cudaSuccess);
  sticky_words().clear();
  last = cudaSuccess;
}

}  // namespace trine::cudart

using namespace trine::cudart;

cudaError_t cudaPeekAtLastError() { return sticky_error() != cudaSuccess ? sticky_error() : last; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last = cudaSuccess;
  return error;
}
