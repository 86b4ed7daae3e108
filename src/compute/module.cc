#include "trine/compute/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compute/captured_launch.h"
#include "compute/device_state.h"
#include "compute/module_state.h"
#include "compute/stream_submit.h"
#include "trine/base/error.h"

namespace trine::compute {

namespace {

[[noreturn]] void bad(std::string message) { throw Error(ErrorCode::invalid_argument, message); }

void check_arguments(const KernelProperties& kernel, const uint32_t* bytes, size_t count) {
  if (count != kernel.parameter_bytes.size())
    bad(fmt::format("launch: {} arguments for {}; it has {} parameters", count, kernel.name,
                    kernel.parameter_bytes.size()));
  for (size_t i = 0; bytes && i < count; ++i)
    if (bytes[i] != kernel.parameter_bytes[i])
      bad(fmt::format("launch: argument {} of {} has {} bytes; the parameter has {}", i, kernel.name, bytes[i],
                      kernel.parameter_bytes[i]));
}

void check_shape(const KernelProperties& kernel, const LaunchShape& shape) {
  const auto [gx, gy, gz] = shape.grid;
  const auto [bx, by, bz] = shape.block;
  const uint64_t threads = shape.block.volume();
  if (threads == 0 || threads > kernel.most_threads || bx > 1024 || by > 1024 || bz > 64)
    bad(fmt::format("launch: a block of {} x {} x {} threads for {}; accepted are 1 to {}, at most 1024 x 1024 x 64",
                    bx, by, bz, kernel.name, kernel.most_threads));
  if (gx == 0 || gy == 0 || gz == 0 || gx > INT32_MAX || gy > UINT16_MAX || gz > UINT16_MAX)
    bad(fmt::format("launch: a grid of {} x {} x {} blocks for {}; accepted are 1 to 2147483647 x 65535 x 65535", gx,
                    gy, gz, kernel.name));
}

}  // namespace

void check_launch(const KernelProperties& kernel, const LaunchShape& shape, const uint32_t* bytes, size_t count) {
  check_arguments(kernel, bytes, count);
  check_shape(kernel, shape);
}

Module Module::compile(const Device& device, std::string_view source, const CompileOptions& options) {
  const std::string_view backend = device.state_->table->name;
  const KernelTable* table = find_kernel_table(backend);
  if (!table) throw Error(ErrorCode::unsupported, fmt::format("compile: device '{}' runs no kernels", backend));
  ModuleHandle handle = table->compile(device.state_->index, source, options);
  return Module(std::make_shared<const State>(State{table, device, std::move(handle)}));
}

Module Module::load(const Device& device, std::string_view program) {
  const std::string_view backend = device.state_->table->name;
  const KernelTable* table = find_kernel_table(backend);
  if (!table || !table->load)
    throw Error(ErrorCode::unsupported, fmt::format("load: device '{}' runs no programs", backend));
  return Module(std::make_shared<const State>(State{table, device, table->load(device.state_->index, program)}));
}

std::vector<std::string> Module::kernels() const { return state_->table->kernels(state_->handle); }

Kernel Module::kernel(std::string_view name) const {
  const KernelHandle handle = state_->table->kernel(state_->handle, name);
  if (!handle) bad(fmt::format("kernel '{}': not in this module; it has {}", name, fmt::join(kernels(), ", ")));
  return Kernel(
      std::make_shared<const Kernel::State>(Kernel::State{state_, handle, state_->table->properties(handle)}));
}

Module::Variable Module::variable(std::string_view name) const {
  const Variable variable = state_->table->variable(state_->handle, name);
  if (!variable.address) bad(fmt::format("variable '{}': not in this module", name));
  return variable;
}

KernelProperties Kernel::properties() const { return state_->properties; }

void Kernel::launch_raw(Stream& stream, const LaunchShape& shape, const void* const* arguments, const uint32_t* bytes,
                        size_t count) const {
  check_launch(state_->properties, shape, bytes, count);
  const Device::State &mine = *state_->module->device.state_, &theirs = *stream.device_.state_;
  if (mine.table != theirs.table || mine.index != theirs.index)
    bad(fmt::format("launch: {} is of device {} of {}, the stream of {} of {}; give a stream of the module's device",
                    state_->properties.name, mine.index, mine.table->name, theirs.index, theirs.table->name));
  if (!stream.capturing()) return state_->module->table->launch(state_->handle, shape, arguments, stream.handle_);
  Capture& capture = *stream.capture_;
  const auto launch = std::make_shared<CapturedLaunch>();
  launch->kernel = state_;
  launch->set(shape, arguments);
  stream.submit([launch](StreamHandle on) {
    launch->kernel->module->table->launch(launch->kernel->handle, launch->shape, launch->pointers.data(), on);
  });
  if (capture.by) launch->operation = capture.by->last_operation(stream.device_.state_->index, stream.handle_);
  capture.kernels.push_back(launch);
}

}  // namespace trine::compute
