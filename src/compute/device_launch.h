// DeviceLaunch: one launch of a kernel in CUDA C++ as data, before anybody has compiled it or knows an address. Kernel
// rows (dnn/device_row.h) and the renderer of loops (codegen/cuda/render.h) make them; DevicePrograms compiles,
// submits.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <variant>

#include "compute/kernel_table.h"
#include "trine/base/tensor.h"
#include "trine/compute/module.h"

namespace trine::compute {

// CUDA C++ in which kernels stand. It may include the headers of DeviceSource::headers of all sources ("name.cuh").
struct DeviceSource {
  std::string name;  // in messages: "matmul_mma.cu"
  std::string text;
};

// What an address in a call stands for.
struct OperandRole {
  enum class Kind : uint8_t {
    in,         // `index` counts as in dnn::Args, or in the inputs of a fused group
    out,        // likewise
    packed,     // weights as the row's prepack made them
    bias,       // as in dnn::Args
    residual,   // likewise
    scale,      // dnn::Quantization::scale
    workspace,  // scratch memory of the call, 256-byte aligned
    constant,   // DeviceCall::constants[index]
    fault,      // int64_t[2], zeros before a run, or null: see DeviceCall::fault
  };
  Kind kind = Kind::in;
  int index = 0;
  int64_t offset = 0;  // bytes
  friend bool operator==(const OperandRole&, const OperandRole&) = default;
};

// An argument of a kernel: an address, or a value's bytes as they are.
using ArgumentBytes = std::vector<std::byte>;
// A tensor map (compute capability 9.0), made when the address is known; the kernel takes 128 bytes as a
// __grid_constant__.
struct TensorMapArgument {
  OperandRole address;
  TensorMapShape shape;
};
using DeviceArgument = std::variant<OperandRole, ArgumentBytes, TensorMapArgument>;

template <class T>
DeviceArgument by_value(const T& value) {
  ArgumentBytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

struct DeviceLaunch {
  std::shared_ptr<const DeviceSource> source;
  std::string kernel;  // by its name in the source; an instance of a template: "matmul<float, 64, 64>"
  LaunchShape shape;
  std::vector<DeviceArgument> arguments;
};

// What computes one kernel call or one loop kernel: launches in order.
struct DeviceCall {
  std::vector<DeviceLaunch> launches;
  std::vector<Tensor> constants;
  size_t workspace_bytes = 0;
  // Not empty: data may hold bad values. A kernel that meets one sets the first word of OperandRole::Kind::fault to 1
  // and the second to the value, and goes on within its memory. Whoever waits for the results then throws
  // Error{invalid_argument} with this text, the value in the place of "{}", and clears the words.
  std::string fault = {};
};

// Device addresses of what roles name; null where there is none.
using OperandAddresses = std::function<void*(const OperandRole&)>;

// The compiled programs of one device: every source is compiled once for each set of kernels first asked for together.
// May be used from any thread.
class DevicePrograms {
 public:
  // `headers`: name and text of what sources may include.
  explicit DevicePrograms(Device device, std::vector<std::pair<std::string, std::string>> headers = {});

  // Compiles what these calls need and is not there yet; each source's new kernels in one go.
  void prepare(const std::vector<const DeviceCall*>& calls);
  Kernel kernel(const DeviceLaunch& launch);
  void submit(const DeviceCall& call, const OperandAddresses& addresses, Stream& stream);
  const Device& device() const { return device_; }

  // What these calls need, compiled, as bytes for adopt(); empty where nothing is kept (the CPU).
  std::string code(const std::vector<const DeviceCall*>& calls) const;
  // Kernels of such bytes need no compiler, for as long as what comes back is held. Those of other sources or another
  // architecture are not asked for. Throws Error{invalid_engine} for damaged bytes.
  std::shared_ptr<const void> adopt(std::string_view code);

 private:
  using Wanted =
      std::map<std::string, std::pair<std::shared_ptr<const DeviceSource>, std::set<std::string>>>;  // by text
  // Programs by the key of their source and the name of a kernel.
  using Code = std::map<std::pair<std::string, std::string>, std::shared_ptr<const std::string>>;

  CompileOptions options_for(const DeviceSource& source, const std::set<std::string>& kernels) const;
  std::string key_of(const DeviceSource& source) const;
  void load_adopted(const DeviceSource& source, std::set<std::string>& kernels, std::string& problem);

  // Names first: they differ early, texts are long.
  struct Order {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::tie(a.first, a.second) < std::tie(b.first, b.second);
    }
  };
  using Key = std::pair<std::string_view, std::string_view>;

  Device device_;
  const KernelTable* table_;
  int index_ = 0;  // of the device in its backend
  std::vector<std::pair<std::string, std::string>> headers_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Kernel, Order> kernels_;  // by name and text
  std::vector<std::weak_ptr<const Code>> adopted_;
};

}  // namespace trine::compute
