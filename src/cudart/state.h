// What the functions of libtrine_cudart share: the machine that programs run on, and how errors leave.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <new>
#include <string>

#include "compute/backend_table.h"
#include "compute/kernel_table.h"
#include "trine/base/error.h"

namespace trine::cudart {

// Chosen at the first call: TRINE_DEVICE, else GPUs when the program carries code for them and there are some, else the
// CPU.
struct Machine {
  const compute::BackendTable* table;
  const compute::KernelTable* kernels;
  int devices;
  bool gpu;
};
const Machine& machine();
int& current_device();  // of this thread

// Inside of the functions below, what call() turns into the code that a function of the API returns.
struct Failure {
  cudaError_t code;
  std::string text;
};
[[noreturn]] inline void fail(cudaError_t code, std::string text = "") { throw Failure{code, std::move(text)}; }
inline void need(bool holds, cudaError_t code = cudaErrorInvalidValue) {
  if (!holds) fail(code);
}

// Remembers the error for cudaGetLastError and says it on stderr when TRINE_DEBUG asks.
cudaError_t keep_error(const Failure& failure) noexcept;
// The same; failures of the device stay: every later call returns them.
cudaError_t keep_error(const Error& error) noexcept;
cudaError_t sticky_error() noexcept;
std::string sticky_text();
void clear_sticky_error() noexcept;

// No exception leaves the C function that this is the body of.
template <class Body>
cudaError_t call(const Body& body) noexcept {
  if (const cudaError_t sticky = sticky_error(); sticky != cudaSuccess) return sticky;
  try {
    body();
    return cudaSuccess;
  } catch (const Failure& failure) {
    return keep_error(failure);
  } catch (const Error& error) {
    return keep_error(error);
  } catch (const std::bad_alloc&) {
    return keep_error(Failure{cudaErrorMemoryAllocation, "no host memory"});
  } catch (...) {
    return keep_error(Failure{cudaErrorUnknown, "a host function threw"});
  }
}

// `done` says whether work is done; that it is not is told, and is no error that is remembered.
template <class Done>
cudaError_t query_call(const Done& done) noexcept {
  bool ready = true;
  const cudaError_t error = call([&] { ready = done(); });
  return error == cudaSuccess && !ready ? cudaErrorNotReady : error;
}

}  // namespace trine::cudart
