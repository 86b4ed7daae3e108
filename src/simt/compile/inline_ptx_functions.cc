// Inline PTX that has no short translation becomes calls of functions in CUDA C++, compiled here and linked in.
#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include <map>
#include <optional>
#include <set>

#include "simt/compile/inline_ptx.h"
#include "simt/compile/inline_ptx_source.h"
#include "simt/compile/parse.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr const char* kFile = "inline_ptx.cu";
constexpr int kFirstLine = 3;  // after the head

// An asm text with its operands' types: one function, however often it is called.
struct Form {
  PtxFunction function;
  std::string why_not;  // there is no function
  std::vector<llvm::CallInst*> calls;
};
using Forms = std::map<std::string, Form>;

std::string type_name(const llvm::Type& type) {
  if (type.isFloatTy()) return "f32";
  if (type.isDoubleTy()) return "f64";
  if (type.isPointerTy()) return "void*";
  if (type.isIntegerTy(1)) return "bool";
  for (unsigned bits : {8u, 16u, 32u, 64u})
    if (type.isIntegerTy(bits)) return "u" + std::to_string(bits);
  throw Error(
      ErrorCode::unsupported,
      "cpu: inline PTX with an operand of another type; integers of 8 to 64 bits, float and double are accepted");
}

std::string key_of(const llvm::CallInst& call) {
  const auto* code = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  std::string key = code->getAsmString().str() + "\n" + code->getConstraintString().str() + "\n";
  llvm::raw_string_ostream(key) << *code->getFunctionType();
  return key;
}

void describe_operands(const llvm::CallInst& call, PtxFunction& function) {
  const auto* code = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  llvm::Type* result = call.getType();
  if (auto* all = llvm::dyn_cast<llvm::StructType>(result))
    for (llvm::Type* type : all->elements()) function.outputs.push_back(type_name(*type));
  else if (!result->isVoidTy()) function.outputs.push_back(type_name(*result));
  for (const llvm::InlineAsm::ConstraintInfo& constraint : code->ParseConstraints()) {
    if (constraint.isIndirect)
      throw Error(ErrorCode::unsupported, "cpu: inline PTX with an operand in memory; registers are accepted");
    if (constraint.Type != llvm::InlineAsm::isInput) continue;
    const bool is_tied = llvm::isDigit(constraint.Codes[0][0]);
    function.tied.push_back(is_tied ? std::stoi(constraint.Codes[0]) : -1);
    function.inputs.push_back(type_name(*call.getArgOperand(static_cast<unsigned>(function.inputs.size()))->getType()));
  }
  function.text = code->getAsmString().str();
}

Forms find_forms(llvm::Module& module) {
  Forms forms;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !call->isInlineAsm()) continue;
      if (llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString().empty()) continue;
      forms[key_of(*call)].calls.push_back(call);
    }
  int number = 0;
  for (auto& [key, form] : forms) try {
      form.function.symbol = fmt::format("trine_ptx_{}", number++);
      describe_operands(*form.calls[0], form.function);
      write_ptx_function(form.function);
    } catch (const Error& error) {
      form.why_not = error.what();
    }
  return forms;
}

// The function and its line that the compiler's first message is about.
std::optional<int> line_of_message(const std::string& message) {
  const std::string start = std::string(kFile) + ":";
  for (size_t at = message.find(start); at != std::string::npos; at = message.find(start, at + 1)) {
    const int line = std::atoi(message.c_str() + at + start.size());
    if (line >= kFirstLine) return line;
  }
  return std::nullopt;
}

std::string first_line_with_error(const std::string& message) {
  const size_t at = message.find("error: ");
  return at == std::string::npos ? message : message.substr(at + 7, message.find('\n', at) - at - 7);
}

// Marks the form that does not compile. False when the message is about none.
bool mark_wrong(Forms& forms, int line, const std::string& message) {
  int first = kFirstLine;
  for (auto& [key, form] : forms) {
    if (!form.why_not.empty()) continue;
    const int lines = static_cast<int>(form.function.line_names.size());
    if (line < first + lines) {
      const std::string& name = form.function.line_names[static_cast<size_t>(line - first)];
      form.why_not = fmt::format("cpu: inline PTX '{}'; the CPU has no such form of it ({})",
                                 name.empty() ? form.function.text : name, first_line_with_error(message));
      return true;
    }
    first += lines;
  }
  return false;
}

std::string compiled(Forms& forms) {
  for (;;) {
    std::string source(ptx_functions_head());
    bool any = false;
    for (const auto& [key, form] : forms)
      if (form.why_not.empty()) {
        source += form.function.source;
        any = true;
      }
    if (!any) return {};
    try {
      compute::CompileOptions options;
      options.name = kFile;
      return parse(source, options).bitcode;
    } catch (const Error& error) {
      const std::optional<int> line = line_of_message(error.what());
      if (!line || !mark_wrong(forms, *line, error.what())) throw;
    }
  }
}

// What carries the flag from one asm to the next of a function.
llvm::AllocaInst* carry_of(llvm::Function& function, std::map<llvm::Function*, llvm::AllocaInst*>& all) {
  llvm::AllocaInst*& slot = all[&function];
  if (slot) return slot;
  llvm::IRBuilder<> first(&function.getEntryBlock(), function.getEntryBlock().begin());
  slot = first.CreateAlloca(first.getInt32Ty());
  first.CreateStore(first.getInt32(0), slot);
  return slot;
}

void call_instead(llvm::CallInst& call, llvm::Function& callee, llvm::AllocaInst* carry) {
  llvm::BasicBlock& entry = call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> first(&entry, entry.begin()), build(&call);
  std::vector<llvm::Value*> arguments;
  llvm::Type* result = call.getType();
  auto* all = llvm::dyn_cast<llvm::StructType>(result);
  const unsigned outputs = all ? all->getNumElements() : result->isVoidTy() ? 0 : 1;
  for (unsigned i = 0; i < outputs; ++i) arguments.push_back(first.CreateAlloca(all ? all->getElementType(i) : result));
  const std::vector<llvm::Value*> slots = arguments;
  arguments.insert(arguments.end(), call.arg_begin(), call.arg_end());
  if (carry) arguments.push_back(carry);
  build.CreateCall(&callee, arguments);
  llvm::Value* value = all ? llvm::PoisonValue::get(result) : nullptr;
  for (unsigned i = 0; i < outputs; ++i) {
    llvm::Value* one = build.CreateLoad(all ? all->getElementType(i) : result, slots[i]);
    value = all ? build.CreateInsertValue(value, one, i) : one;
  }
  if (value) call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

void say_why(Form& form) {
  for (llvm::CallInst* call : form.calls) {
    llvm::LLVMContext& context = call->getContext();
    call->setMetadata("trine.why", llvm::MDNode::get(context, llvm::MDString::get(context, form.why_not)));
  }
}

// A flag that no asm of the same function sets cannot be told.
void refuse_lost_carries(Forms& forms) {
  std::set<llvm::Function*> setting;
  for (auto& [key, form] : forms)
    if (form.why_not.empty() && form.function.uses_carry && !form.function.needs_carry)
      for (llvm::CallInst* call : form.calls) setting.insert(call->getFunction());
  for (auto& [key, form] : forms) {
    if (!form.function.needs_carry) continue;
    for (llvm::CallInst* call : form.calls)
      if (!setting.contains(call->getFunction()))
        form.why_not =
            fmt::format("cpu: inline PTX '{}'; it adds a carry that no asm of this function sets", form.function.text);
  }
}

}  // namespace

void call_ptx_functions(llvm::Module& module) {
  Forms forms = find_forms(module);
  if (forms.empty()) return;
  refuse_lost_carries(forms);
  const std::string bitcode = compiled(forms);
  if (!bitcode.empty()) {
    auto added = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, kFile), module.getContext());
    if (!added || llvm::Linker::linkModules(module, std::move(*added)))
      throw Error(ErrorCode::unsupported, "cpu: functions of inline PTX cannot be linked");
  }
  std::map<llvm::Function*, llvm::AllocaInst*> carries;
  for (auto& [key, form] : forms) {
    llvm::Function* callee = form.why_not.empty() ? module.getFunction(form.function.symbol) : nullptr;
    if (!callee) {
      say_why(form);
      continue;
    }
    callee->setLinkage(llvm::GlobalValue::InternalLinkage);
    for (llvm::CallInst* call : form.calls)
      call_instead(*call, *callee, form.function.uses_carry ? carry_of(*call->getFunction(), carries) : nullptr);
  }
}

}  // namespace trine::simt
