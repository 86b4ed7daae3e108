#include "simt/compile/instances.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/GlobalDecl.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <llvm/Support/raw_ostream.h>

namespace trine::simt {
namespace {

constexpr const char* kFunction = "trine_simt_instances";

class FindKernels : public clang::RecursiveASTVisitor<FindKernels> {
 public:
  FindKernels(clang::ASTContext& context, std::vector<std::string>& symbols)
      : mangler_(context.createMangleContext()), symbols_(symbols) {}

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const auto* function = clang::dyn_cast<clang::FunctionDecl>(reference->getDecl());
    if (!function) return true;
    std::string symbol;
    llvm::raw_string_ostream stream(symbol);
    if (mangler_->shouldMangleDeclName(function))
      mangler_->mangleName(clang::GlobalDecl(function, clang::KernelReferenceKind::Kernel), stream);
    else stream << function->getName();
    symbols_.push_back(symbol);
    return true;
  }

 private:
  std::unique_ptr<clang::MangleContext> mangler_;
  std::vector<std::string>& symbols_;
};

class InstancesConsumer : public clang::ASTConsumer {
 public:
  explicit InstancesConsumer(std::vector<std::string>& symbols) : symbols_(symbols) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* decl : group)
      if (auto* function = clang::dyn_cast<clang::FunctionDecl>(decl))
        if (function->getIdentifier() && function->getName() == kFunction) function_ = function;
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (function_ && function_->hasBody()) FindKernels(context, symbols_).TraverseStmt(function_->getBody());
  }

 private:
  std::vector<std::string>& symbols_;
  clang::FunctionDecl* function_ = nullptr;
};

}  // namespace

std::string instances_source(const std::vector<std::string>& instances) {
  if (instances.empty()) return "";
  std::string source = std::string("\nstatic __attribute__((host, unused)) void ") + kFunction + "() {\n";
  for (size_t i = 0; i < instances.size(); ++i)
    source += "(void)&(\n#line " + std::to_string(i + 1) + " \"<instances>\"\n" + instances[i] + "\n);\n";
  return source + "}\n";
}

std::unique_ptr<clang::ASTConsumer> find_instances(std::vector<std::string>& symbols) {
  return std::make_unique<InstancesConsumer>(symbols);
}

}  // namespace trine::simt
