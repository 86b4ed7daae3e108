#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "simt/compile/headers.h"
#include "simt/compile/threads.h"

namespace trine::simt {
namespace {

struct Managers {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;

  explicit Managers(llvm::TargetMachine* machine) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(calls);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, calls, modules);
  }
};

// So that what they do is said of the line that calls them.
void inline_header_functions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::DISubprogram* source = function.getSubprogram();
    if (function.isDeclaration() || !source || !source->getFilename().starts_with(kDeviceHeaders)) continue;
    if (!function.hasFnAttribute(llvm::Attribute::NoInline)) function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool debug) {
  Managers managers(&machine);
  auto passes = debug ? managers.builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0)
                      : managers.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  passes.run(module, managers.modules);
}

void drop_unreached(llvm::Module& module) {
  Managers managers(nullptr);
  llvm::ModulePassManager passes;
  inline_header_functions(module);
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, managers.modules);
}

}  // namespace trine::simt
