#include "simt/compile/link_units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

#include "simt/compile/describe.h"
#include "simt/compile/threads.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr unsigned kSharedSpace = 3;

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorCode::invalid_argument, "link: " + what); }

// What every program has: the runtime's, and what the devices' libraries bring.
bool is_everywhere(llvm::StringRef name) {
  return name.starts_with("llvm.") || name.starts_with("__nv_") || is_known_function(name) || name == "vprintf" ||
         name == "malloc" || name == "free" || name == "__assertfail";
}

bool is_kernel(const llvm::GlobalValue& value) {
  const auto* function = llvm::dyn_cast<llvm::Function>(&value);
  return function && function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

// Of what another source may define, or may use.
bool is_linked(const llvm::GlobalValue& value) {
  return !value.hasLocalLinkage() && value.hasName() && !is_everywhere(value.getName()) && !is_kernel(value) &&
         value.getAddressSpace() != kSharedSpace;
}

std::vector<std::string> wanted_of(const llvm::Module& module) {
  std::vector<std::string> wanted;
  for (const llvm::GlobalValue& value : module.global_values())
    if (value.isDeclaration() && !value.use_empty() && is_linked(value) && !value.hasExternalWeakLinkage())
      wanted.push_back(llvm::demangle(value.getName()));
  return wanted;
}

// Says what the linker found wrong.
class Complaints : public llvm::DiagnosticHandler {
 public:
  explicit Complaints(std::string& text) : text_(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(text_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::string& text_;
};

std::unique_ptr<llvm::Module> read(const DeviceModule& unit, llvm::LLVMContext& context) {
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(unit.bitcode, "unit"), context);
  if (!module) bad("damaged bitcode: " + llvm::toString(module.takeError()));
  return std::move(*module);
}

}  // namespace

void prepare_unit(llvm::Module& module) {
  for (const char* list : {"llvm.compiler.used", "__clang_gpu_used_external"})
    if (llvm::GlobalVariable* variable = module.getNamedGlobal(list)) variable->eraseFromParent();
  for (llvm::GlobalValue& value : module.global_values()) value.removeDeadConstantUsers();  // of those lists
  for (llvm::GlobalVariable& variable : module.globals()) {
    const size_t mark = variable.getName().rfind("__static__");
    if (variable.isDeclaration() || mark == llvm::StringRef::npos) continue;
    llvm::GlobalVariable* before = module.getGlobalVariable(variable.getName().take_front(mark));
    if (!before || !before->isDeclaration() || before->getAddressSpace() != variable.getAddressSpace()) continue;
    before->replaceAllUsesWith(&variable);
  }
}

void describe_links(const llvm::Module& module, DeviceModule& out) {
  for (const llvm::GlobalValue& value : module.global_values()) {
    if (value.isDeclaration() || !is_linked(value) || value.hasLinkOnceLinkage() ||
        value.hasAvailableExternallyLinkage() || value.hasAppendingLinkage())
      continue;
    (value.hasWeakLinkage() ? out.shared : out.defined).push_back(llvm::demangle(value.getName()));
  }
  out.wanted = wanted_of(module);
}

DeviceModule link_units(std::span<const DeviceModule* const> units) {
  std::string complaints;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Complaints>(complaints));
  llvm::Module whole("program", context);
  llvm::Linker linker(whole);
  std::set<std::string> managed;
  for (const DeviceModule* unit : units) {
    if (linker.linkInModule(read(*unit, context))) bad(complaints);
    for (const VariableInfo& variable : unit->variables)
      if (variable.managed) managed.insert(variable.symbol);
  }
  if (const auto wanted = wanted_of(whole); !wanted.empty())
    bad(fmt::format("device code wants {}; define it in one of the program's sources", fmt::join(wanted, ", ")));
  DeviceModule result;
  describe(whole, result, false);
  for (VariableInfo& variable : result.variables) variable.managed = managed.contains(variable.symbol);
  llvm::raw_string_ostream stream(result.bitcode);
  llvm::WriteBitcodeToFile(whole, stream);
  return result;
}

}  // namespace trine::simt
