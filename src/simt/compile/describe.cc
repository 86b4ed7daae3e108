#include "simt/compile/describe.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <set>

namespace trine::simt {
namespace {

constexpr unsigned kGlobal = 1, kConstant = 4;  // address spaces of nvptx64

std::string take(char* text) {
  std::string taken = text ? text : "";
  std::free(text);
  return taken;
}

// "scale<float>(float*, float, int)": as in the source, without what a template returns.
std::string readable(llvm::StringRef symbol) {
  const std::string mangled = symbol.str();
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(mangled.c_str())) return mangled;  // extern "C"
  if (!demangler.isFunction()) return take(demangler.finishDemangle(nullptr, nullptr));
  return take(demangler.getFunctionName(nullptr, nullptr)) + take(demangler.getFunctionParameters(nullptr, nullptr));
}

uint32_t round_up(uint32_t value, uint64_t alignment) {
  return static_cast<uint32_t>((value + alignment - 1) / alignment * alignment);
}

// nvptx64 passes each parameter of the source as one of the IR: scalars as they are, the rest byval.
KernelInfo describe_kernel(const llvm::Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  KernelInfo kernel;
  kernel.symbol = function.getName().str();
  kernel.name = readable(function.getName());
  for (const llvm::Argument& argument : function.args()) {
    llvm::Type* by_value = argument.getParamByValType();
    llvm::Type* type = by_value ? by_value : argument.getType();
    const llvm::MaybeAlign given = argument.getParamAlign();
    const llvm::Align alignment = by_value && given ? *given : layout.getABITypeAlign(type);
    const uint32_t offset = round_up(kernel.parameter_bytes, alignment.value());
    const auto bytes = static_cast<uint32_t>(layout.getTypeAllocSize(type));
    kernel.parameters.push_back({offset, bytes});
    kernel.parameter_bytes = offset + bytes;
  }
  // "x", "x,y" or "x,y,z", of which __launch_bounds__ writes the first.
  const llvm::StringRef most = function.getFnAttribute("nvvm.maxntid").getValueAsString();
  uint32_t threads = 0;
  if (!most.split(',').first.getAsInteger(10, threads) && threads < kernel.most_threads) kernel.most_threads = threads;
  return kernel;
}

bool is_variable(const llvm::GlobalVariable& variable) {
  if (variable.isDeclaration() || variable.hasLocalLinkage() || variable.getName().starts_with("llvm.")) return false;
  return variable.getAddressSpace() == kGlobal || variable.getAddressSpace() == kConstant;
}

// __managed__ is annotate("managed"): clang keeps that attribute to HIP.
std::set<const llvm::Value*> managed_variables(const llvm::Module& module) {
  std::set<const llvm::Value*> managed;
  const llvm::GlobalVariable* notes = module.getGlobalVariable("llvm.global.annotations");
  if (!notes) return managed;
  for (const llvm::Use& use : llvm::cast<llvm::ConstantArray>(notes->getInitializer())->operands()) {
    const auto* note = llvm::cast<llvm::ConstantStruct>(use.get());  // what, text, file, line, arguments
    llvm::StringRef text;
    if (llvm::getConstantStringInfo(note->getOperand(1)->stripPointerCasts(), text) && text == "managed")
      managed.insert(note->getOperand(0)->stripPointerCasts());
  }
  return managed;
}

// The host may write `static __constant__ float table[8]` too: there is one such in this program, which is this module.
void expose_statics(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    const unsigned space = variable.getAddressSpace();
    const bool of_function = variable.getName().starts_with("_ZZ");
    if (!variable.hasInternalLinkage() || of_function || (space != kGlobal && space != kConstant)) continue;
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    variable.setExternallyInitialized(true);
  }
}

void drop_annotations(llvm::Module& module) {
  if (llvm::GlobalVariable* notes = module.getGlobalVariable("llvm.global.annotations")) notes->eraseFromParent();
}

VariableInfo describe_variable(const llvm::GlobalVariable& variable) {
  VariableInfo info;
  info.symbol = variable.getName().str();
  info.name = readable(variable.getName());
  info.bytes = variable.getDataLayout().getTypeAllocSize(variable.getValueType());
  info.constant = variable.getAddressSpace() == kConstant;
  return info;
}

}  // namespace

void describe(llvm::Module& module, DeviceModule& out, bool whole_program) {
  for (const llvm::Function& function : module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel && !function.isDeclaration())
      out.kernels.push_back(describe_kernel(function));
  const std::set<const llvm::Value*> managed = managed_variables(module);
  drop_annotations(module);
  if (whole_program) expose_statics(module);
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (!is_variable(variable)) continue;
    out.variables.push_back(describe_variable(variable));
    out.variables.back().managed = managed.contains(&variable);
  }
}

}  // namespace trine::simt
