#include "simt/compile/check_kernels.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/CompilerInstance.h>

namespace trine::simt {
namespace {

bool holds_long_double(clang::QualType type) {
  type = type.getCanonicalType();
  if (const auto* array = type->getAsArrayTypeUnsafe()) return holds_long_double(array->getElementType());
  if (type->isSpecificBuiltinType(clang::BuiltinType::LongDouble)) return true;
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return false;
  for (const clang::CXXBaseSpecifier& base : record->bases())
    if (holds_long_double(base.getType())) return true;
  for (const clang::FieldDecl* field : record->fields())
    if (holds_long_double(field->getType())) return true;
  return false;
}

class KernelChecker : public clang::ASTConsumer {
 public:
  explicit KernelChecker(clang::DiagnosticsEngine& diagnostics)
      : diagnostics_(diagnostics),
        long_double_(diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                 "kernel parameter %0 holds a long double, which host and device see "
                                                 "differently; use double")) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (const clang::Decl* decl : group) check(decl);
    return true;
  }
  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* function) override { check(function); }

 private:
  void check(const clang::Decl* decl) {
    if (const auto* scope = clang::dyn_cast<clang::NamespaceDecl>(decl)) return check_all(*scope);
    if (const auto* scope = clang::dyn_cast<clang::LinkageSpecDecl>(decl)) return check_all(*scope);
    const auto* function = clang::dyn_cast<clang::FunctionDecl>(decl);
    if (!function || !function->hasAttr<clang::CUDAGlobalAttr>()) return;
    for (const clang::ParmVarDecl* parameter : function->parameters())
      if (holds_long_double(parameter->getType()))
        diagnostics_.Report(parameter->getLocation(), long_double_) << parameter->getName();
  }
  void check_all(const clang::DeclContext& scope) {
    if (!scope.getParentASTContext().getSourceManager().isInSystemHeader(
            clang::cast<clang::Decl>(&scope)->getLocation()))
      for (const clang::Decl* decl : scope.decls()) check(decl);
  }

  clang::DiagnosticsEngine& diagnostics_;
  unsigned long_double_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> check_kernels(clang::CompilerInstance& instance) {
  return std::make_unique<KernelChecker>(instance.getDiagnostics());
}

}  // namespace trine::simt
