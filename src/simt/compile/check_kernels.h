// What clang lets pass and launches cannot: parameters of kernels that host and device see differently.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
class CompilerInstance;
}  // namespace clang

namespace trine::simt {

// Reports kernels with a parameter of type long double, which has 16 bytes on the host and 8 here, or with a member of
// it. The test: Parse.Mistakes.
std::unique_ptr<clang::ASTConsumer> check_kernels(clang::CompilerInstance& instance);

}  // namespace trine::simt
