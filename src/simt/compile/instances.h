// Templates to instantiate, and the kernels that they became.
//
// A function of the host that takes the address of each is appended to the source: clang then emits the kernels, and
// its syntax tree says which they are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clang {
class ASTConsumer;
class CompilerInstance;
}  // namespace clang

namespace trine::simt {

std::string instances_source(const std::vector<std::string>& instances);

// Fills `symbols` with the mangled name of each instance, in their order, when the source has been parsed.
std::unique_ptr<clang::ASTConsumer> find_instances(std::vector<std::string>& symbols);

}  // namespace trine::simt
