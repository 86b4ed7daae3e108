#include "codegen/cuda/render.h"

#include <fmt/format.h>

#include "codegen/cuda/kernel_text.h"
#include "codegen/cuda/split.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

using compute::DeviceArgument;
using compute::DeviceCall;
using compute::OperandRole;

// `places`: of the workspace, see split.h.
DeviceArgument argument_of(const Operand& operand, const std::vector<int64_t>& places, DeviceCall& call) {
  if (operand.kind != Operand::Kind::constant && operand.index >= kWorkspaceOperand)
    return OperandRole{OperandRole::Kind::workspace, 0,
                       places.at(static_cast<size_t>(operand.index - kWorkspaceOperand))};
  switch (operand.kind) {
    case Operand::Kind::input: return OperandRole{OperandRole::Kind::in, operand.index, 0};
    case Operand::Kind::output: return OperandRole{OperandRole::Kind::out, operand.index, 0};
    default: break;
  }
  call.constants.push_back(operand.constant);
  return OperandRole{OperandRole::Kind::constant, static_cast<int>(call.constants.size()) - 1, 0};
}

DeviceArgument sizes_argument(const KernelText& text, DeviceCall& call) {
  const compute::ArgumentBytes& sizes = text.sizes;
  if (!text.sizes_in_memory) return sizes;
  Tensor held(DType::u8, {static_cast<int64_t>(sizes.size())});
  std::memcpy(held.mutable_data(), sizes.data(), sizes.size());
  call.constants.push_back(std::move(held));
  return OperandRole{OperandRole::Kind::constant, static_cast<int>(call.constants.size()) - 1, 0};
}

int64_t blocks_of(const BoundLoops& loops, const ThreadSchedule& s) {
  int64_t points = 1;
  for (int l : loops.path_loops()) points *= s.units(loops, l);
  return (points + s.points_per_block() - 1) / s.points_per_block();
}

void add_launch(const BoundLoops& loops, const ThreadSchedule& schedule, const std::vector<int64_t>& places,
                DeviceCall& call) {
  const int64_t blocks = blocks_of(loops, schedule);
  if (blocks == 0) return;
  if (blocks > INT32_MAX)
    throw Error(ErrorCode::unsupported, fmt::format("loop kernel: {} blocks; a launch has 2^31 - 1 at most", blocks));
  KernelText text = render_kernel(loops, schedule);
  compute::DeviceLaunch launch;
  launch.source = std::make_shared<compute::DeviceSource>(compute::DeviceSource{text.kernel + ".cu", text.source});
  launch.kernel = text.kernel;
  launch.shape.grid = {static_cast<uint32_t>(blocks), 1, 1};
  launch.shape.block = {static_cast<uint32_t>(schedule.block_x), static_cast<uint32_t>(schedule.block_y), 1};
  launch.shape.overlap = schedule.overlap;
  launch.arguments.push_back(sizes_argument(text, call));
  for (int o : text.operands)
    launch.arguments.push_back(argument_of(loops.kernel().operands[static_cast<size_t>(o)], places, call));
  call.launches.push_back(std::move(launch));
}

}  // namespace

DeviceCall render_cuda(const LoopKernel& kernel, const Bindings& bindings, const RenderTarget& target) {
  DeviceCall call;
  const BoundLoops loops(kernel, bindings);
  const ThreadSchedule schedule = schedule_threads(loops, target);
  const SplitKernels split = split_folds(loops, blocks_of(loops, schedule), target.multiprocessors);
  if (split.kernels.empty()) {
    add_launch(loops, schedule, {}, call);
    return call;
  }
  for (const LoopKernel& part : split.kernels) {
    const BoundLoops bound(part, bindings);
    add_launch(bound, schedule_threads(bound, target), split.offsets, call);
  }
  call.workspace_bytes = static_cast<size_t>(split.workspace_bytes);
  return call;
}

}  // namespace trine::codegen
