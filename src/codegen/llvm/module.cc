// The module's entry: kernels to an LLVM module, through the optimiser and the back end, to a flat blob.
#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "codegen/compile.h"
#include "codegen/llvm/flatten.h"
#include "codegen/llvm/renderer.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

struct LevelRow {
  std::string_view name;
  Target::Level level;
  const char* cpu;
  const char* vector_width;
};
constexpr LevelRow kLevels[] = {
    {"baseline", Target::Level::baseline, "x86-64-v2", "128"},
    {"avx2", Target::Level::avx2, "x86-64-v3", "256"},
    {"avx512", Target::Level::avx512, "x86-64-v4", "512"},
};

const LevelRow& level_of(std::string_view name) {
  for (const LevelRow& row : kLevels) {
    if (row.name == name) return row;
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("machine code: CPU level '{}'; known are baseline, avx2 and avx512", name));
}

std::unique_ptr<llvm::TargetMachine> target_machine(const LevelRow& level) {
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialised;
  std::string why;
  const llvm::Triple triple(kTriple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target) throw Error(ErrorCode::unsupported, "machine code: " + why);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // an fma only where one is written
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, level.cpu, "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

std::string entry_name(uint64_t hash) { return fmt::format("k{:016x}", hash); }

void set_attributes(llvm::Function& f, const LevelRow& level) {
  f.addFnAttr(llvm::Attribute::NoUnwind);
  f.addFnAttr("target-cpu", level.cpu);
  f.addFnAttr("prefer-vector-width", level.vector_width);
  f.addFnAttr("min-legal-vector-width", level.vector_width);
  f.addFnAttr("no-builtins");  // no loop becomes a call of memset
}

void render(const LoopKernel& kernel, llvm::Module& module, const LevelRow& level, CompileResult& result) {
  const std::string name = entry_name(kernel.hash);
  try {
    llvm::Function* f = Renderer(kernel, module, {level.level}).run(name);
    set_attributes(*f, level);
  } catch (const CannotRender& refusal) {
    if (llvm::Function* f = module.getFunction(name)) {
      f->deleteBody();
      f->eraseFromParent();
    }
    result.refusals.push_back(fmt::format("kernel {:016x}: {} stays with the interpreter", kernel.hash, refusal.why));
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

std::vector<uint8_t> emit(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    throw Error(ErrorCode::unsupported, "machine code: the back end cannot write objects");
  }
  passes.run(module);
  return {object.begin(), object.end()};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* trine_llvm_stamp() { return TRINE_CODEGEN_STAMP; }

extern "C" __attribute__((visibility("default"))) void trine_llvm_compile(const CompileRequest& request,
                                                                          CompileResult& result) {
  const LevelRow& level = level_of(request.cpu_level);
  auto machine = target_machine(level);
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setTargetTriple(llvm::Triple(kTriple));
  module.setDataLayout(machine->createDataLayout());
  std::map<uint64_t, const LoopKernel*> kernels;  // sorted: the same bytes for the same set
  for (const LoopKernel* k : request.kernels) kernels.emplace(k->hash, k);
  for (const auto& [hash, kernel] : kernels) render(*kernel, module, level, result);
  result.object.cpu_level = level.name;
  if (module.empty()) return;
  std::string broken;
  llvm::raw_string_ostream out(broken);
  TRINE_CHECK(!llvm::verifyModule(module, &out), broken);
  optimise(module, *machine);
  FlatCode code = flatten(emit(module, *machine));
  result.object.blob = std::move(code.bytes);
  for (const auto& [hash, kernel] : kernels) {
    const auto f = code.functions.find(entry_name(hash));
    if (f != code.functions.end()) result.object.offsets.emplace(hash, f->second);
  }
}

}  // namespace trine::codegen
