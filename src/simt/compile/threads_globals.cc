#include "simt/compile/threads_globals.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace trine::simt {
namespace {

constexpr unsigned kSharedSpace = 3;
using llvm::GlobalValue;
using llvm::GlobalVariable;

// Lists that keep what nothing reaches.
void drop_lists(llvm::Module& module) {
  for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global.annotations"})
    if (GlobalVariable* list = module.getNamedGlobal(name)) list->eraseFromParent();
}

bool is_special(const GlobalVariable& variable) { return variable.getName().starts_with("llvm."); }

void hide(llvm::GlobalObject& object) {
  object.setComdat(nullptr);
  object.setVisibility(GlobalValue::DefaultVisibility);
  object.setLinkage(GlobalValue::InternalLinkage);
}

void show(llvm::GlobalObject& object) {
  object.setComdat(nullptr);
  object.setLinkage(GlobalValue::ExternalLinkage);
  object.setVisibility(GlobalValue::DefaultVisibility);
  object.setDSOLocal(false);  // reached through a table: code may lie anywhere
}

// Every function and constant that is defined here; aliases become what they stand for.
void hide_all(llvm::Module& module) {
  drop_lists(module);
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) hide(function);
  for (GlobalVariable& variable : module.globals())
    if (!variable.isDeclaration() && !is_special(variable)) hide(variable);
}

}  // namespace

std::set<std::string> program_variables(llvm::Module& module, const DeviceModule& info) {
  std::set<std::string> names;
  int unnamed = 0;
  for (GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || is_special(variable) || variable.getAddressSpace() == kSharedSpace) continue;
    if (variable.isConstant() && !variable.isExternallyInitialized()) continue;
    if (!variable.hasName()) variable.setName("trine.variable." + std::to_string(unnamed++));
    names.insert(variable.getName().str());
  }
  for (const VariableInfo& variable : info.variables) names.insert(variable.symbol);
  return names;
}

void isolate_kernel(llvm::Module& module, const std::string& kernel, const std::set<std::string>& variables) {
  hide_all(module);
  for (GlobalVariable& variable : module.globals()) {
    if (!variables.contains(variable.getName().str())) continue;
    variable.setInitializer(nullptr);
    variable.setExternallyInitialized(false);
    show(variable);
  }
  show(*module.getFunction(kernel));
}

void isolate_variables(llvm::Module& module, const std::set<std::string>& variables) {
  hide_all(module);
  for (GlobalVariable& variable : module.globals()) {
    if (!variables.contains(variable.getName().str()) || variable.isDeclaration()) continue;
    variable.setConstant(false);  // the host may write what kernels may not
    show(variable);
  }
}

}  // namespace trine::simt
