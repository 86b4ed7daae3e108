#include "simt/run/find_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

std::string without_spaces(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != ' ') out += c;
  return out;
}

// "ns::scale<float>" of "void ns::scale<float>(float*, int)". Instances of templates are demangled with what they
// return, which is void.
std::string_view without_signature(std::string_view name) {
  if (name.ends_with(')')) {
    size_t depth = 0, at = name.size();
    do {
      --at;
      depth += name[at] == ')' ? 1 : 0;
      depth -= name[at] == '(' ? 1 : 0;
    } while (depth > 0 && at > 0);
    name = name.substr(0, at);
  }
  return name.starts_with("void ") ? name.substr(5) : name;
}

bool has_alias(const KernelInfo& kernel, std::string_view wanted) {
  return std::any_of(kernel.aliases.begin(), kernel.aliases.end(),
                     [&](const std::string& alias) { return without_spaces(alias) == wanted; });
}

}  // namespace

const KernelInfo* find_kernel(const DeviceModule& module, std::string_view name) {
  const std::string wanted = without_spaces(name);
  for (const KernelInfo& kernel : module.kernels)
    if (kernel.symbol == name || without_spaces(kernel.name) == wanted || has_alias(kernel, wanted)) return &kernel;
  const KernelInfo* found = nullptr;
  for (const KernelInfo& kernel : module.kernels) {
    if (without_spaces(without_signature(kernel.name)) != wanted) continue;
    if (found)
      throw Error(ErrorCode::invalid_argument, fmt::format("kernel '{}': {} and {} are called so; give the parameters",
                                                           name, found->name, kernel.name));
    found = &kernel;
  }
  return found;
}

const VariableInfo* find_variable(const DeviceModule& module, std::string_view name) {
  for (const VariableInfo& variable : module.variables)
    if (variable.symbol == name || variable.name == name) return &variable;
  return nullptr;
}

}  // namespace trine::simt
