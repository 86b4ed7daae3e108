// DeviceRow: one way to compute one kind of problem with kernels in CUDA C++. What KernelRow is to a CPU, with launches
// as data instead of a function that runs: they are planned, printed, compiled ahead, captured in graphs. Backends
// register their tables when their object files are linked.
#pragma once

#include <memory>
#include <span>

#include "compute/device_launch.h"
#include "dnn/kernel_row.h"

namespace trine::dnn {

// What rows need to know of a device.
struct DeviceTraits {
  int architecture = 80;  // of kernels' code: 75, 80, 86, 87, 89, 90, 100, 120
  bool specific = false;  // code for exactly this architecture is taken ("sm_90a"): wgmma, TMA
  int multiprocessors = 1;
  uint32_t shared_bytes_per_block = 48 << 10;  // that can be asked for
  size_t l2_bytes = 0;
  double flops_per_second = 1e12;  // of f32, for cost models
  double bytes_per_second = 1e11;
  bool is_cpu = false;  // a CPU runs the kernels, for tests
};
DeviceTraits traits_of(const compute::Device& device);

struct DeviceLimits {
  size_t workspace_bytes = SIZE_MAX;
  bool tf32 = false;              // f32 products may be rounded to tf32 first
  bool deterministic = false;     // the same bits in every run
  bool providers = true;          // vendor libraries may compete
  std::vector<std::string> drop;  // names of rows that must not be used
};

// A vendor library's way: enqueues its work on a stream, which may be captured. Not from two threads at a time.
class ProvidedCall {
 public:
  virtual ~ProvidedCall() = default;
  virtual void run(const compute::OperandAddresses& addresses, compute::Stream& stream) = 0;
  virtual size_t workspace_bytes() const { return 0; }  // that OperandRole::Kind::workspace must name
};

struct DeviceRow {
  std::string_view name;  // op_in_out_algorithm_tile: "conv_f16_f16_mma_128x64"
  OpKind op;
  int architecture = 0;   // the least
  bool specific = false;  // needs DeviceTraits::specific, and exactly that architecture
  Numerics numerics = Numerics::exact;
  bool tf32 = false;           // rounds f32 to tf32
  const void* tile = nullptr;  // what tells this row from others with the same functions

  // Null when the row can compute the problem, else why not.
  const char* (*fits)(const DeviceRow&, const Problem&, const DeviceTraits&);
  double (*cost)(const DeviceRow&, const Problem&, const DeviceTraits&);  // estimated seconds
  // Weights, as Args describes them, on the host. Null: they stay as they are, as an in[] of the call.
  size_t (*packed_bytes)(const DeviceRow&, const Problem&) = nullptr;
  void (*prepack)(const DeviceRow&, const Problem&, std::span<const void* const> weights, void* packed) = nullptr;
  compute::DeviceCall (*call)(const DeviceRow&, const Problem&, const DeviceTraits&) = nullptr;
  // Contractions of 8-bit integers: the same with numbers that are known when the call is made. Quantization::scale is
  // not read: the call's operand of role scale holds one or, by the problem's types, one for each channel; null: 1.
  compute::DeviceCall (*call_integers)(const DeviceRow&, const Problem&, const DeviceTraits&,
                                       const Quantization&) = nullptr;
  // Instead of `call`; null when the library is not there.
  std::shared_ptr<ProvidedCall> (*provide)(const DeviceRow&, const Problem&, const compute::Device&) = nullptr;
  std::string_view provider = "own";   // the library: "cublaslt"
  std::string (*library)() = nullptr;  // of a provider, with its version, for who remembers times: "cublaslt 120805"
};

class RegisterDeviceRows {
 public:
  explicit RegisterDeviceRows(std::span<const DeviceRow> rows);
};

// The call of a row, by whichever of its two functions the problem needs.
compute::DeviceCall device_call(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits,
                                const Quantization& quantization = {});

std::vector<const DeviceRow*> device_rows_of(OpKind op);  // in the order of the tables
const DeviceRow* find_device_row(std::string_view name);  // null when there is none

struct DeviceCandidate {
  const DeviceRow* row;
  double seconds;
};
struct DeviceChoice {
  std::vector<DeviceCandidate> candidates;                         // fastest first
  std::vector<std::pair<const DeviceRow*, std::string>> refusals;  // and why
  const DeviceRow* best() const { return candidates.empty() ? nullptr : candidates.front().row; }
};
DeviceChoice find_on_device(const Problem& problem, const DeviceTraits& traits, const DeviceLimits& limits = {});

// Headers that kernels of rows may include, and the sources themselves (backends/cuda/kernels).
std::vector<std::pair<std::string, std::string>> device_headers();                  // *.cuh
std::shared_ptr<const compute::DeviceSource> device_source(std::string_view name);  // "matmul_mma.cu"

}  // namespace trine::dnn
