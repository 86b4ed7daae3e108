#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "simt/compile/threads.h"

namespace trine::simt {

void add_entry(llvm::Module& module, const KernelInfo& kernel, const std::string& symbol) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Function& body = *module.getFunction(kernel.symbol);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  for (const char* name : {"target-cpu", "target-features", "probe-stack"})
    entry->addFnAttr(name, body.getFnAttribute(name).getValueAsString());
  entry->setDoesNotThrow();
  llvm::Argument* block = entry->getArg(0);
  llvm::IRBuilder<> build(llvm::BasicBlock::Create(context, "entry", entry));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& parameter : body.args()) {
    const uint32_t offset = kernel.parameters[parameter.getArgNo()].offset;
    llvm::Value* at = build.CreateConstInBoundsGEP1_32(build.getInt8Ty(), block, offset);
    // Structs are copied by the call.
    const bool by_value = parameter.hasByValAttr();
    arguments.push_back(by_value ? at : build.CreateLoad(parameter.getType(), at));
  }
  llvm::CallInst* call = build.CreateCall(&body, arguments);
  call->setAttributes(body.getAttributes());
  build.CreateRetVoid();
  body.setLinkage(llvm::GlobalValue::InternalLinkage);
}

}  // namespace trine::simt
