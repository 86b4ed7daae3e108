#include "engine/build/generate.h"

#include "engine/build/compile.h"

namespace trine {
namespace {

void collect(const Plan& plan, std::map<uint64_t, const codegen::LoopKernel*>& kernels) {
  for (const PlanStep& step : plan.steps) {
    for (const codegen::LoopKernel& kernel : step.loops) kernels.emplace(kernel.hash, &kernel);
    for (const auto& body : step.bodies) collect(*body, kernels);
  }
}

}  // namespace

std::vector<codegen::ObjectCode> generate_code(const Plan& plan, std::string& note) {
  std::map<uint64_t, const codegen::LoopKernel*> by_hash;
  collect(plan, by_hash);
  if (by_hash.empty()) return {};
  if (!can_compile_kernels()) {
    note = "machine code cannot be generated, so that loops run slowly, interpreted: libtrine_llvm.so: " +
           why_no_compiler();
    return {};
  }
  std::vector<const codegen::LoopKernel*> kernels;
  for (const auto& [hash, kernel] : by_hash) kernels.push_back(kernel);
  codegen::CompileResult result = compile_kernels(kernels, name(plan.limits.level));
  for (const std::string& refusal : result.refusals) note += (note.empty() ? "interpreted: " : "; ") + refusal;
  std::vector<codegen::ObjectCode> objects;
  if (!result.object.offsets.empty()) objects.push_back(std::move(result.object));
  return objects;
}

}  // namespace trine
