#include "plan/device/device_target.h"

#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "plan/device/row_times.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr size_t kShownRefusals = 3;

dnn::DeviceLimits limits_of(const Plan& plan) {
  dnn::DeviceLimits limits;
  limits.workspace_bytes = plan.limits.workspace_bytes;
  limits.deterministic = plan.limits.deterministic;
  limits.tf32 = plan.limits.tf32;
  limits.providers = plan.limits.providers;
  limits.drop = plan.limits.drop;
  return limits;
}

std::string no_row(const dnn::DeviceChoice& choice) {
  if (choice.refusals.empty()) return "no device row computes this";
  std::string why;
  for (size_t i = 0; i < choice.refusals.size() && i < kShownRefusals; ++i)
    why += fmt::format("{}{}: {}", i ? ", " : "", choice.refusals[i].first->name, choice.refusals[i].second);
  if (choice.refusals.size() > kShownRefusals)
    why += fmt::format(" and {} more rows", choice.refusals.size() - kShownRefusals);
  return why;
}

// Pools of whole images are reductions: as loops they are divided among as many blocks as the device needs.
bool is_reduction(const dnn::Problem& problem) {
  const auto* pool = std::get_if<dnn::PoolProblem>(&problem);
  return pool && pool->kernel == pool->in && pool->out == dnn::Extents{1, 1, 1} &&
         pool->pad_begin == dnn::Extents{0, 0, 0};
}

}  // namespace

DeviceTarget::DeviceTarget(compute::Device device, std::shared_ptr<compute::DevicePrograms> programs)
    : device_(std::move(device)), programs_(std::move(programs)), traits_(dnn::traits_of(device_)) {
  if (!programs_) programs_ = std::make_shared<compute::DevicePrograms>(device_, dnn::device_headers());
  fingerprint_ = fmt::format("{} x{}", traits_.is_cpu ? "simt" : fmt::format("sm_{}", traits_.architecture),
                             traits_.multiprocessors);
  const compute::DeviceInfo info = device_.info();
  machine_ = fmt::format("{} {}", fingerprint_, info.name);
  if (traits_.is_cpu) machine_ += " " + info.architecture;
  std::replace_if(machine_.begin(), machine_.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
}

dnn::DeviceChoice DeviceTarget::candidates(const Plan& plan, const dnn::Problem& problem) const {
  dnn::DeviceChoice choice = dnn::find_on_device(problem, traits_, limits_of(plan));
  std::erase_if(choice.candidates, [&](const dnn::DeviceCandidate& c) {
    return !small_enough(*c.row, problem, plan.limits.workspace_bytes);
  });
  return choice;
}

std::string DeviceTarget::choose(const Plan& plan, std::string_view chosen, Call& call) const {
  if (plan.device != fingerprint_) chosen = "";  // for another device
  const dnn::Problem& problem = call.what.problem;
  if (is_reduction(problem)) return "a pool of whole images is a loop";
  dnn::DeviceChoice choice = candidates(plan, problem);
  if (plan.limits.timings && !plan.limits.deterministic) RowTimes(*this, *plan.limits.timings).order(problem, choice);
  std::stable_partition(choice.candidates.begin(), choice.candidates.end(),
                        [&](const dnn::DeviceCandidate& c) { return c.row->name == chosen; });
  for (const dnn::DeviceCandidate& candidate : choice.candidates) {
    auto work = std::make_shared<ChosenWork>();
    work->row = candidate.row;
    work->traits = &traits_;
    if (candidate.row->provide) {
      work->provided = candidate.row->provide(*candidate.row, problem, device_);
      if (!work->provided) continue;  // the library is not here
    }
    call.device = std::move(work);
    return "";
  }
  return no_row(choice);
}

void DeviceTarget::measure(const Plan& plan, const dnn::Problem& problem) const {
  if (plan.limits.timings) RowTimes(*this, *plan.limits.timings).measure(problem, candidates(plan, problem));
}

bool DeviceTarget::small_enough(const dnn::DeviceRow& row, const dnn::Problem& problem, size_t workspace_bytes) const {
  if (workspace_bytes == SIZE_MAX || row.provide) return true;
  return dnn::device_call(row, problem, traits_).workspace_bytes <= workspace_bytes;
}

std::string DeviceTarget::render(std::span<const codegen::LoopKernel> loops, const Bindings& bindings,
                                 Call& call) const {
  auto work = std::make_shared<ChosenWork>();
  const codegen::RenderTarget target{.multiprocessors = traits_.multiprocessors,
                                     .shared_bytes = std::min(traits_.shared_bytes_per_block, 48u << 10),
                                     .overlap = traits_.architecture >= 90};
  try {
    for (const codegen::LoopKernel& loop : loops) work->calls.push_back(render_cuda(loop, bindings, target));
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) throw;
    return e.what();
  }
  for (const compute::DeviceCall& c : work->calls)
    call.workspace_bytes = std::max(call.workspace_bytes, c.workspace_bytes);
  call.device = std::move(work);
  return "";
}

void DeviceTarget::settle(Call& call) const {
  auto& work = static_cast<ChosenWork&>(*call.device);
  const dnn::DeviceRow& row = *work.row;
  if (row.packed_bytes) call.packed_bytes = row.packed_bytes(row, call.what.problem);
  if (work.provided) {
    call.workspace_bytes = work.provided->workspace_bytes();
    return;
  }
  work.calls = {dnn::device_call(row, call.what.problem, traits_)};
  call.workspace_bytes = work.calls[0].workspace_bytes;
}

}  // namespace trine
