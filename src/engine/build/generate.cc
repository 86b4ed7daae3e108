#include "engine/build/generate.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "codegen/compile.h"
#include "trine/base/error.h"

namespace trine {
namespace {

void collect(const Plan& plan, std::map<uint64_t, const codegen::LoopKernel*>& kernels) {
  for (const PlanStep& step : plan.steps) {
    for (const codegen::LoopKernel& kernel : step.loops) kernels.emplace(kernel.hash, &kernel);
    for (const auto& body : step.bodies) collect(*body, kernels);
  }
}

// Beside this library first: a build tree and an installation both keep them together.
codegen::CompileFunction open_compiler(std::string& problem) {
  Dl_info here;
  std::string folder;
  if (dladdr(reinterpret_cast<const void*>(&generate_code), &here) && here.dli_fname) {
    folder = here.dli_fname;
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
  }
  void* module = dlopen((folder + "libtrine_llvm.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) module = dlopen("libtrine_llvm.so", RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    problem = dlerror();
    return nullptr;
  }
  return reinterpret_cast<codegen::CompileFunction>(dlsym(module, "trine_llvm_compile"));
}

}  // namespace

std::vector<codegen::ObjectCode> generate_code(const Plan& plan, std::string& note) {
  std::map<uint64_t, const codegen::LoopKernel*> by_hash;
  collect(plan, by_hash);
  if (by_hash.empty()) return {};
  static std::string problem;
  static const codegen::CompileFunction compile = open_compiler(problem);
  if (!compile) {
    note = fmt::format("loops are interpreted: no code generator ({})", problem);
    return {};
  }
  std::vector<const codegen::LoopKernel*> kernels;
  for (const auto& [hash, kernel] : by_hash) kernels.push_back(kernel);
  codegen::CompileResult result;
  compile({kernels, name(plan.limits.level)}, result);
  for (const std::string& refusal : result.refusals) note += (note.empty() ? "interpreted: " : "; ") + refusal;
  std::vector<codegen::ObjectCode> objects;
  if (!result.object.offsets.empty()) objects.push_back(std::move(result.object));
  return objects;
}

}  // namespace trine
