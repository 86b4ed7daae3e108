// Kernels in CUDA C++, compiled at run time for the CPU or an NVIDIA GPU.
//
//   auto device = trine::compute::Device::open("cpu");
//   auto stream = device.create_stream();
//   auto module = trine::compute::Module::compile(device, R"(
//       __global__ void scale(float* x, float a, int n) {
//         int i = blockIdx.x * blockDim.x + threadIdx.x;
//         if (i < n) x[i] *= a;
//       })");
//   module.kernel("scale").launch(stream, {.grid = {(n + 255) / 256}, .block = {256}}, x.data(), 2.0f, n);
//   stream.synchronize();
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trine/compute/device.h"

namespace trine::compute {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
  uint64_t volume() const { return uint64_t{x} * y * z; }
};

struct LaunchShape {
  Dim3 grid, block;
  uint32_t shared_bytes = 0;  // dynamic shared memory
  bool cooperative = false;   // grid.sync() works; all blocks are resident at once
  Dim3 cluster = {};          // blocks that reach each other's shared memory; more than one: compute capability 9.0
  // May begin before the kernel before it is done, and then waits in itself (griddepcontrol.wait) before it touches
  // what that one reads or writes. Means nothing where devices cannot do it.
  bool overlap = false;
};

// How a kernel runs on the CPU. `lanes`: threads of a warp are lanes of vectors. `threads`: each thread has a stack of
// its own, slowly; what checks and the debugger need, and what runs kernels that lanes cannot.
enum class CpuMode : uint8_t { automatic, lanes, threads };

struct CompileOptions {
  std::string name = "kernel.cu";                            // in messages and in a debugger
  std::vector<std::string> include_dirs;                     // searched for #include
  std::vector<std::string> defines;                          // "NAME" or "NAME=VALUE"
  std::vector<std::pair<std::string, std::string>> headers;  // name and text of further #includes
  std::vector<std::string> instances;                        // templates to instantiate: "scale<float>"
  int standard = 20;                                         // of C++: 14, 17, 20
  bool debug = false;      // -g: for gdb; nothing is optimised; implies CpuMode::threads
  bool fast_math = false;  // as nvcc's --use_fast_math
  CpuMode mode = CpuMode::automatic;
  bool whole_program = false;       // source is a .cu file with host code, of which only the device's is compiled
  std::vector<std::string> checks;  // memory, race, barrier, init, all (docs/checks.md); implies CpuMode::threads
  // compile_program(): not empty for one of several sources that are linked when the program starts; a name that no
  // other of them has. Its functions and variables may be those of others: `extern __device__`.
  std::string unit;
};

struct KernelProperties {
  std::string name;  // as in the source: "scale(float*, float, int)"
  uint32_t static_shared_bytes = 0;
  uint32_t most_threads = 1024;  // of a block, by __launch_bounds__ and registers
  uint32_t registers = 0;        // of a thread; 0 on the CPU
  std::vector<uint32_t> parameter_bytes;
};

// One kernel of a module, which it keeps loaded. May be used from any thread.
class Kernel {
 public:
  KernelProperties properties() const;

  // Each argument is copied as it is: its type must be the parameter's (sizes are compared; Error{invalid_argument}).
  template <class... T>
  void launch(Stream& stream, const LaunchShape& shape, const T&... arguments) const {
    const void* pointers[] = {&arguments..., nullptr};
    const uint32_t bytes[] = {uint32_t{sizeof(T)}..., 0};
    launch_raw(stream, shape, pointers, bytes, sizeof...(T));
  }

  // `arguments` points at each; `bytes`, when not null, is their sizes, to be compared. Throws Error{invalid_argument}
  // for a shape that the device does not take, Error{device} when the kernel fails, naming it. On the CPU the stream
  // stays failed then: later launches and synchronize() report it again, until the stream is destroyed.
  void launch_raw(Stream& stream, const LaunchShape& shape, const void* const* arguments, const uint32_t* bytes,
                  size_t count) const;

  struct State;

 private:
  friend class Module;
  explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Compiled source on one device. Cheap handle; may be used from any thread.
class Module {
 public:
  // Throws Error{invalid_argument} with the compiler's messages, Error{unsupported} for what is not implemented or when
  // there is no compiler here (libtrine_simt).
  static Module compile(const Device& device, std::string_view source, const CompileOptions& options = {});

  // What compile_program() made (compute/program.h), of which nothing is kept. Throws Error{invalid_argument} for bytes
  // that it did not make, Error{unsupported}.
  static Module load(const Device& device, std::string_view program);

  // By its name in the source ("scale", "scale<float>") or the mangled one. Throws Error{invalid_argument} that lists
  // the module's kernels.
  Kernel kernel(std::string_view name) const;
  std::vector<std::string> kernels() const;  // names as in the source

  struct Variable {
    void* address;
    size_t bytes;
  };
  // A __device__, __constant__ or __managed__ variable. Throws Error{invalid_argument}.
  Variable variable(std::string_view name) const;

  struct State;

 private:
  explicit Module(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace trine::compute
