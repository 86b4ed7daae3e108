// Choosing rows ahead of the first run: prepares the plan for likely sizes and keeps what came out.
#include <fmt/format.h>

#include "plan/prepare.h"
#include "trine/base/error.h"

namespace trine {
namespace {

void keep(Plan& plan, const Call& call, std::map<const void*, int>& kept) {
  PlanStep& step = plan.steps[static_cast<size_t>(call.node)];
  step.rows.emplace_back(call.device ? call.device->kernel() : call.row->name);
  step.packed.push_back(-1);
  if (!call.packed.defined()) return;
  const auto [it, fresh] = kept.emplace(call.packed.data(), static_cast<int>(plan.packed.size()));
  if (fresh) plan.packed.push_back({call.row->packing, call.packed});
  step.packed.back() = it->second;
}

std::string choose_bodies(Plan& plan, const Target* target) {
  std::string problems;
  for (PlanStep& step : plan.steps) {
    for (const auto& body : step.bodies) {
      const std::string problem = choose_rows(*body, representative_inputs(*body->graph), target);
      if (!problem.empty()) problems += (problems.empty() ? "" : "\n") + problem;
    }
  }
  return problems;
}

}  // namespace

std::string choose_rows(Plan& plan, const std::vector<Type>& input_types, const Target* target) {
  plan.device = target ? target->fingerprint() : "";
  plan.packed.clear();
  for (PlanStep& step : plan.steps) {
    step.rows.clear();
    step.packed.clear();
  }
  PackedCache cache;
  std::string problem;
  try {
    const auto segment = prepare(plan, with_input_types(plan, input_types), nullptr, plan.limits.threads, &cache,
                                 Batch::in_parts, target);
    std::map<const void*, int> kept;
    for (const Call& call : segment->calls)
      if (call.kind == Call::Kind::kernel) keep(plan, call, kept);
  } catch (const Error& e) {
    problem = e.what();
  }
  const std::string bodies = choose_bodies(plan, target);
  return problem.empty() ? bodies : bodies.empty() ? problem : problem + "\n" + bodies;
}

}  // namespace trine
