#include "simt/compile/jit.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <bit>
#include <mutex>

#include "simt/compile/jit_float.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

namespace orc = llvm::orc;

[[noreturn]] void fail(llvm::Error error) {
  throw Error(ErrorCode::unsupported, "cpu: no machine code: " + llvm::toString(std::move(error)));
}

void check(llvm::Error error) {
  if (error) fail(std::move(error));
}

template <class T>
T check(llvm::Expected<T> value) {
  if (!value) fail(value.takeError());
  return std::move(*value);
}

orc::JITTargetMachineBuilder host(bool debug) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = check(orc::JITTargetMachineBuilder::detectHost());
#if defined(__x86_64__)
  if (cpu_level() != CpuLevel::avx512) {  // TRINE_CPU may ask for less than there is
    const bool avx2 = cpu_level() == CpuLevel::avx2;
    builder.setCPU(avx2 ? "x86-64-v3" : "x86-64");
    builder.getFeatures() = llvm::SubtargetFeatures();
    if (avx2) builder.addFeatures({"+avx2"});
  }
#endif
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setCodeGenOptLevel(debug ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
  builder.getOptions().TrapUnreachable = true;
  return builder;
}

}  // namespace

struct Jit::State {
  orc::JITTargetMachineBuilder builder;
  std::unique_ptr<orc::LLJIT> jit;
};

Jit::Jit(std::span<const RuntimeSymbol> runtime, bool debug) : state_(new State{host(debug), nullptr}) {
  state_->jit = check(orc::LLJITBuilder().setJITTargetMachineBuilder(state_->builder).create());
  orc::LLJIT& jit = *state_->jit;
  orc::SymbolMap symbols;
  const auto define = [&](const char* name, void* address) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  };
  for (const RuntimeSymbol& symbol : runtime) define(symbol.name, symbol.address);
  for (const RuntimeSymbol& symbol : float_conversions()) define(symbol.name, symbol.address);
  check(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
  jit.getMainJITDylib().addGenerator(
      check(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix())));
  if (debug) check(orc::enableDebuggerSupport(jit));
}

Jit::~Jit() = default;

std::unique_ptr<llvm::TargetMachine> Jit::machine() const { return check(state_->builder.createTargetMachine()); }

std::string Jit::object(llvm::Module& module) const {
  const auto made = check(orc::SimpleCompiler(*machine())(module));
  return made->getBuffer().str();
}

void Jit::add(const std::string& object) {
  check(state_->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "kernel")));
}

std::string Jit::target() const {
  return "LLVM " LLVM_VERSION_STRING " " + state_->builder.getCPU() + " " + state_->builder.getFeatures().getString();
}

void* Jit::address(const std::string& symbol) { return check(state_->jit->lookup(symbol)).toPtr<void*>(); }

}  // namespace trine::simt
