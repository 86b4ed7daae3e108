#include "simt/compile/parse.h"

#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include "simt/compile/arguments.h"
#include "simt/compile/check_kernels.h"
#include "simt/compile/clang_job.h"
#include "simt/compile/describe.h"
#include "simt/compile/headers.h"
#include "simt/compile/instances.h"
#include "simt/compile/link_units.h"
#include "simt/compile/prelude.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// Source to a module of LLVM IR; notes which kernels the instances became.
class EmitAction : public clang::EmitLLVMOnlyAction {
 public:
  EmitAction(llvm::LLVMContext& context, std::vector<std::string>& instances)
      : EmitLLVMOnlyAction(&context), instances_(instances) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> all;
    all.push_back(EmitLLVMOnlyAction::CreateASTConsumer(instance, file));
    all.push_back(find_instances(instances_));
    all.push_back(check_kernels(instance));
    return std::make_unique<clang::MultiplexConsumer>(std::move(all));
  }

 private:
  std::vector<std::string>& instances_;
};

// A name that is no option of the compiler, nor its word for standard input.
std::string file_name(const compute::CompileOptions& options) {
  if (options.name.empty()) return "kernel.cu";
  return options.name.starts_with('-') ? "./" + options.name : options.name;
}

ClangJob kernel_job(const compute::CompileOptions& options, std::string_view text, std::string_view prelude) {
  ClangJob job{language_arguments(options), file_name(options), {}};
  const std::string precompiled = std::string(kHeaderRoot) + "/prelude.pch",
                    given = std::string(kHeaderRoot) + "/given";
  job.files.emplace_back(job.main_name, text);
  job.files.emplace_back(precompiled, prelude);
  for (const auto& [name, header] : options.headers)
    job.files.emplace_back(name.starts_with('/') ? name : given + "/" + name, header);
  const std::vector<std::string> more = source_arguments(options);
  job.arguments.insert(job.arguments.end(), more.begin(), more.end());
  job.arguments.insert(job.arguments.end(), {"-I", given, "-include-pch", precompiled, "-emit-llvm-only"});
  return job;
}

// Which kernel each instance became, under the name by which the caller knows it.
void name_instances(const compute::CompileOptions& options, const std::vector<std::string>& symbols,
                    DeviceModule& module) {
  for (size_t i = 0; i < symbols.size() && i < options.instances.size(); ++i)
    for (KernelInfo& kernel : module.kernels)
      if (kernel.symbol == symbols[i]) kernel.aliases.push_back(options.instances[i]);
}

// Of what clang should have refused: its own check would end the process.
void verify(const llvm::Module& module, const std::string& name) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream))
    throw Error(ErrorCode::unsupported, "compile: " + name + " has what the device lacks: " + message);
}

// Programs of before CUDA 12, whose templates would take names that newer ones give to variables.
std::string advice(const std::string& messages) {
  for (const char* name : {"texture", "surface"})
    if (messages.find(std::string("no template named '") + name + "'") != std::string::npos)
      return std::string(name) + " references were removed in CUDA 12; use " + name + " objects, cuda" +
             (name[0] == 't' ? "Texture" : "Surface") + "Object_t\n";
  return "";
}

std::string plural(unsigned count) { return std::to_string(count) + (count == 1 ? " error" : " errors"); }

}  // namespace

DeviceModule parse(std::string_view source, const compute::CompileOptions& options) {
  const std::string text = std::string(source) + instances_source(options.instances);
  const auto precompiled = prelude(language_arguments(options));
  const ClangJob job = kernel_job(options, text, *precompiled);
  llvm::LLVMContext context;
  std::vector<std::string> instances;
  EmitAction action(context, instances);
  ClangOutcome outcome = run_clang(job, action);
  const std::unique_ptr<llvm::Module> module = action.takeModule();
  if (!outcome.succeeded || outcome.errors || !module)
    throw Error(ErrorCode::invalid_argument, "compile: " + job.main_name + " has " + plural(outcome.errors) + "\n" +
                                                 outcome.messages + advice(outcome.messages));
  verify(*module, job.main_name);

  if (!options.unit.empty()) prepare_unit(*module);
  DeviceModule result;
  result.warnings = std::move(outcome.messages);
  describe(*module, result, options.unit.empty());
  if (!options.unit.empty()) describe_links(*module, result);
  name_instances(options, instances, result);
  llvm::raw_string_ostream stream(result.bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  return result;
}

}  // namespace trine::simt
