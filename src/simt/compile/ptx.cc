#include "simt/compile/ptx.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include "simt/compile/analyses.h"
#include "simt/compile/fatal_errors.h"
#include "simt/compile/libdevice.h"
#include "simt/compile/ptx_prepare.h"
#include "simt/compile/ptx_runtime.h"
#include "simt/compile/ptx_unroll.h"
#include "simt/compile/texture_runtime.h"
#include "trine/base/error.h"

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace trine::simt {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

[[noreturn]] void bad(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

const llvm::Target& nvptx() {
  static const llvm::Target* target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
  }();
  if (!target) throw Error(ErrorCode::unsupported, "ptx: this LLVM has no NVPTX back end");
  return *target;
}

// What the back end says about instructions that it cannot write.
class Messages : public llvm::DiagnosticHandler {
 public:
  explicit Messages(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(errors_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << "\n";
    return true;
  }

 private:
  std::string& errors_;
};

std::unique_ptr<llvm::TargetMachine> make_machine(std::string_view architecture, int version) {
  const std::string cpu(architecture), feature = fmt::format("ptx{}", version);
  const auto create = [&](const std::string& features) {
    return std::unique_ptr<llvm::TargetMachine>(
        nvptx().createTargetMachine(llvm::Triple(kTriple), cpu, features, llvm::TargetOptions(), std::nullopt,
                                    std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  };
  static const std::unique_ptr<const llvm::MCSubtargetInfo> known(
      nvptx().createMCSubtargetInfo(llvm::Triple(kTriple), "", ""));
  if (!known->isCPUStringValid(cpu) || std::atoi(cpu.c_str() + 3) < 70)
    bad(fmt::format("ptx: architecture '{}'; accepted are sm_70 to sm_121 as LLVM knows them", cpu));
  for (const llvm::SubtargetFeatureKV& one : known->getAllProcessorFeatures())
    if (one.Key == feature) return create("+" + feature);
  bad(fmt::format("ptx: version {}; accepted are those that LLVM {} writes, as 80 for PTX 8.0", version,
                  LLVM_VERSION_STRING));
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  Analyses analyses(&machine);
  analyses.builder.registerLateLoopOptimizationsEPCallback(
      [](llvm::LoopPassManager& passes, llvm::OptimizationLevel) { passes.addPass(UnrollShortLoops()); });
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, analyses.modules);
}

// What the driver gives to every module.
bool known_to_driver(llvm::StringRef name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail";
}

// The driver would say that too, but not which function it is.
void check_complete(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !known_to_driver(function.getName()))
      bad("ptx: the device function " + llvm::demangle(function.getName()) +
          " is called and not defined; define it in this source");
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    throw Error(ErrorCode::unsupported, "ptx: this LLVM writes no PTX");
  passes.run(module);
  return text.str().str();
}

// The host's memory and the device's at once: PTX says so of each variable, and the driver moves pages.
void mark_managed(llvm::Module& module, const std::vector<VariableInfo>& variables) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
  for (const VariableInfo& info : variables) {
    llvm::GlobalVariable* variable = info.managed ? module.getGlobalVariable(info.symbol) : nullptr;
    if (!variable) continue;
    llvm::Metadata* note[] = {llvm::ConstantAsMetadata::get(variable), llvm::MDString::get(context, "managed"), one};
    module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, note));
  }
}

}  // namespace

std::string ptx(const DeviceModule& device, std::string_view architecture, int version, bool fast_math) {
  std::string errors;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Messages>(errors));
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(device.bitcode, "kernel"), context);
  if (!module) bad("ptx: " + llvm::toString(module.takeError()));
  const FatalErrors guard("ptx");
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(architecture, version);
  (*module)->setDataLayout(machine->createDataLayout());
  mark_managed(**module, device.variables);
  link_ptx_runtime(**module);
  link_texture_runtime(**module, true);
  link_libdevice(**module);
  prepare_for_ptx(**module, fast_math);
  optimize(**module, *machine);
  check_complete(**module);
  std::string text = emit(**module, *machine);
  if (!errors.empty()) throw Error(ErrorCode::unsupported, "ptx: " + errors);
  return text;
}

}  // namespace trine::simt
