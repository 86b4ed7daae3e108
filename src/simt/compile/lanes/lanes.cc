#include "simt/compile/lanes/lanes.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "simt/compile/analyses.h"
#include "simt/compile/lanes/prepare.h"
#include "simt/compile/lanes/private_arrays.h"
#include "simt/compile/lanes/waiting.h"
#include "simt/compile/lanes/widen.h"
#include "simt/compile/lanes/widen_indices.h"
#include "simt/compile/lanes/width.h"

namespace trine::simt::lanes {
namespace {

bool has(const llvm::TargetMachine& machine, llvm::StringRef feature) {
  return machine.getTargetFeatureString().contains(feature);
}

Registers registers_of(const llvm::TargetMachine& machine) {
  if (has(machine, "+avx512f")) return {512, 32};
  return has(machine, "+avx2") ? Registers{256, 16} : Registers{128, 16};
}

// Constants that name a shared variable become instructions: where it lies is known when the block runs.
void free_shared(llvm::Module& module) {
  llvm::SmallVector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == 3) variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
}

int count_barriers(const llvm::Function& kernel) {
  int count = 0;
  for (const llvm::BasicBlock& block : kernel)
    for (const llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        count += classify(*call) == CallKind::barrier;
  return count;
}

void tell_target(llvm::Function& function, const llvm::TargetMachine& machine, const Registers& registers) {
  function.addFnAttr("target-cpu", machine.getTargetCPU());
  function.addFnAttr("target-features", machine.getTargetFeatureString());
  const std::string bits = std::to_string(registers.bits);
  function.addFnAttr("prefer-vector-width", bits);
  function.addFnAttr("min-legal-vector-width", bits);
}

void check(llvm::Function& function, const char* step, bool print) {
  if (print) llvm::errs() << "; " << step << "\n" << function;
  std::string wrong;
  llvm::raw_string_ostream text(wrong);
  if (llvm::verifyFunction(function, &text)) refuse(std::string(step) + " made wrong code: " + wrong);
}

// Variables go to registers, and masks that are constant fold.
void optimize(llvm::Function& function, llvm::TargetMachine& machine) {
  Analyses analyses(&machine);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::SCCPPass());
  passes.addPass(analyses.builder.buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O2,
                                                                      llvm::ThinOrFullLTOPhase::None));
  passes.run(function, analyses.functions);
}

}  // namespace

Code vectorize(llvm::Module& module, const KernelInfo& info, const Options& options, llvm::TargetMachine& machine) {
  llvm::Function& kernel = prepare(module, info, options.block, machine);
  free_shared(module);
  check(kernel, "prepare", options.print);
  const bool waits = waits_for_blocks(kernel);
  const Registers registers = registers_of(machine);
  const Group group{options.block, options.width ? options.width : choose_width(kernel, options.block, registers)};
  if (has_warp_operations(kernel) && group.width != 32) refuse("warp operations in groups that are no warps");

  const llvm::DominatorTree tree(kernel);
  const llvm::LoopInfo loops(tree);
  const Order order = order_blocks(kernel, loops);
  const auto interleaved = interleaved_pointers(kernel);
  widen_indices(kernel, Shapes(kernel, order, loops, group, interleaved));
  const Shapes shapes(kernel, order, loops, group, interleaved);
  const Schedule schedule(kernel, order, loops, shapes);

  const std::string symbol = options.symbol.empty() ? info.symbol + ".lanes" : options.symbol;
  Driver driver(kernel, info, group, count_barriers(kernel), symbol);
  Widener(kernel, group, order, loops, shapes, schedule, driver, registers.bits == 512).run();
  driver.finish();
  kernel.eraseFromParent();
  tell_target(driver.function(), machine, registers);
  check(driver.function(), "widen", options.print);
  optimize(driver.function(), machine);
  check(driver.function(), "optimize", options.print);
  return {symbol, driver.shared_bytes(), driver.frame_bytes(), group.width, waits};
}

}  // namespace trine::simt::lanes
