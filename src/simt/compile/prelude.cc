#include "simt/compile/prelude.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Serialization/ASTWriter.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <fmt/ranges.h>

#include <map>
#include <mutex>

#include "simt/compile/clang_job.h"
#include "simt/compile/headers.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// As clang's GeneratePCHAction, but into memory.
class PrecompileAction : public clang::ASTFrontendAction {
 public:
  std::string text() const { return {buffer_->Data.begin(), buffer_->Data.end()}; }

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance, llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(instance.getPreprocessor(), instance.getModuleCache(), "", "", buffer_,
                                                 instance.getCodeGenOpts(),
                                                 instance.getFrontendOpts().ModuleFileExtensions,
                                                 /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }

 private:
  std::shared_ptr<clang::PCHBuffer> buffer_ = std::make_shared<clang::PCHBuffer>();
};

std::string precompile(const std::vector<std::string>& language_arguments) {
  ClangJob job{language_arguments, std::string(kDeviceHeaders) + "/trine_prelude.cu", {}};
  // Templates that the headers use are instantiated now, not again for every kernel.
  job.arguments.insert(job.arguments.end(), {"-emit-pch", "-fpch-instantiate-templates"});
  PrecompileAction action;
  const ClangOutcome outcome = run_clang(job, action);
  if (!outcome.succeeded) throw Error(ErrorCode::unsupported, "compile: the device headers:\n" + outcome.messages);
  return action.text();
}

}  // namespace

std::shared_ptr<const std::string> prelude(const std::vector<std::string>& language_arguments) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::string>> made;
  const std::lock_guard lock(mutex);  // others wait rather than make it again
  auto& entry = made[fmt::format("{}", fmt::join(language_arguments, "\n"))];
  if (!entry) entry = std::make_shared<const std::string>(precompile(language_arguments));
  return entry;
}

}  // namespace trine::simt
