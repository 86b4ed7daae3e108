#include "simt/compile/lanes/prepare.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "simt/compile/analyses.h"
#include "simt/compile/lanes/equal_phis.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/intrinsics.h"
#include "simt/compile/lanes/waiting.h"

namespace trine::simt::lanes {
namespace {

// No machine is given: its costs are those of scalar code, and vectors come later.
void simplify(llvm::Function& kernel) {
  Analyses analyses;
  analyses.builder.buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None)
      .run(kernel, analyses.functions);
}

// Vectors and switches become what the rest knows. Blocks that nothing leads to any more would never find their place
// in the order of blocks.
void make_scalar(llvm::Function& kernel) {
  Analyses analyses;
  llvm::FunctionPassManager passes;
  llvm::ScalarizerPassOptions all;
  all.ScalarizeLoadStore = true;
  passes.addPass(llvm::ScalarizerPass(all));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::LowerSwitchPass());
  passes.run(kernel, analyses.functions);
  llvm::removeUnreachableBlocks(kernel);
}

// The last passes: what comes after must keep loops simple and values that leave loops in phis.
void canonicalize(llvm::Function& kernel) {
  Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(kernel, analyses.functions);
}

void clean(llvm::Function& kernel) {
  Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InferAddressSpacesPass(0));
  passes.addPass(llvm::InstCombinePass());
  passes.run(kernel, analyses.functions);
}

void refuse_vectors(llvm::Function& kernel) {
  for (llvm::BasicBlock& block : kernel)
    for (llvm::Instruction& instruction : block)
      if (instruction.getType()->isVectorTy()) refuse("a value of a vector type");
}

// What is left beside the kernel was not inlined: its address is taken, as by the table of a class with virtual
// functions. It is code for one thread.
void refuse_functions(llvm::Module& module, const llvm::Function& kernel) {
  Analyses analyses;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
  for (const llvm::Function& function : module)
    if (!function.isDeclaration() && &function != &kernel)
      refuse("the address of function " + function.getName().str());
}

}  // namespace

llvm::Function& prepare(llvm::Module& module, const KernelInfo& info, const compute::Dim3& block,
                        llvm::TargetMachine& machine) {
  llvm::Function* kernel = module.getFunction(info.symbol);
  if (!kernel || kernel->isDeclaration()) refuse("no kernel " + info.symbol);
  kernel->setCallingConv(llvm::CallingConv::C);
  llvm::StripDebugInfo(module);
  inline_all(module, *kernel);
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  lower_intrinsics(*kernel, block);
  copy_parameters(*kernel);
  clean(*kernel);
  simplify(*kernel);
  expand_memory(*kernel);
  make_scalar(*kernel);
  merge_equal_phis(*kernel);
  canonicalize(*kernel);
  refuse_vectors(*kernel);
  refuse_unknown_calls(*kernel);
  admit_waiting(*kernel, block);
  refuse_functions(module, *kernel);
  isolate_barriers(*kernel);
  return *kernel;
}

void inline_all(llvm::Module& module, llvm::Function& kernel) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || &function == &kernel) continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel) function.addFnAttr(llvm::Attribute::AlwaysInline);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setComdat(nullptr);
  }
  kernel.removeFnAttr(llvm::Attribute::NoInline);
  kernel.removeFnAttr(llvm::Attribute::OptimizeNone);
  // Lists of what must stay name variables, which the caller looks after.
  for (const char* list : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* used = module.getNamedGlobal(list)) used->eraseFromParent();
  Analyses analyses;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
  for (llvm::BasicBlock& block : kernel)
    for (llvm::Instruction& instruction : block) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call) continue;
      if (call->isInlineAsm()) refuse("inline PTX");
      const llvm::Function* callee = call->getCalledFunction();
      if (!callee) refuse("a call by pointer");
      if (!callee->isDeclaration()) refuse("recursion of " + callee->getName().str());
    }
}

bool has_warp_operations(const llvm::Function& kernel) {
  for (const llvm::BasicBlock& block : kernel)
    for (const llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && is_warp_operation(classify(*call)))
        return true;
  return false;
}

}  // namespace trine::simt::lanes
