#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "simt/compile/analyses.h"
#include "simt/compile/headers.h"
#include "simt/compile/threads.h"

namespace trine::simt {
namespace {

// So that what they do is said of the line that calls them.
void inline_header_functions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::DISubprogram* source = function.getSubprogram();
    if (function.isDeclaration() || !source || !source->getFilename().starts_with(kDeviceHeaders)) continue;
    if (!function.hasFnAttribute(llvm::Attribute::NoInline)) function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool debug, bool checked) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = !checked;
  Analyses analyses(&machine, tuning);
  auto passes = debug ? analyses.builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0)
                      : analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  passes.run(module, analyses.modules);
}

void drop_unreached(llvm::Module& module) {
  Analyses analyses;
  llvm::ModulePassManager passes;
  inline_header_functions(module);
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
}

}  // namespace trine::simt
