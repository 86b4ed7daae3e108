#include "cc_units.h"

#include <fmt/format.h>

namespace trine::cli {
namespace {

// Replaced wherever it stands.
void replace(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

std::string quoted(const std::string& name) {
  std::string text = "device code: " + name;
  for (char& c : text)
    if (c == '"' || c == '\\' || c == '@') c = '\'';  // which assemblers and linkers read otherwise
  return '"' + text + '"';
}

// The linker finds out what device code lacks: a function for the device is a symbol, that of its name in the source
// after "device code: ", which its unit defines and those that call it refer to. So members of libraries come along
// too.
std::string link_symbols(const compute::CompiledProgram& program) {
  std::string text = "\t.section\t.trine.device,\"aw\",@progbits\n";
  const auto define = [&](const std::string& name, const char* how) {
    text += fmt::format("\t.{} {}\n\t.hidden {}\n{}:\n\t.byte 0\n", how, quoted(name), quoted(name), quoted(name));
  };
  for (const std::string& name : program.defined) define(name, "globl");
  for (const std::string& name : program.shared) define(name, "weak");
  for (const std::string& name : program.wanted)
    text += fmt::format("\t.hidden {}\n\t.long {} - .\n", quoted(name), quoted(name));
  return text;
}

}  // namespace

// clang names a function for each unit that the linker of the toolkit would write. Here it is one function for all, and
// units register before the program's own constructors run.
std::string unit_assembly(std::string text, const compute::CompiledProgram& program) {
  constexpr std::string_view kRegister = "__cudaRegisterLinkedBinary", kConstructor = "\t.quad\t__cuda_module_ctor\n";
  const size_t name = text.find(std::string(kRegister) + "_");
  if (name != std::string::npos) {
    const size_t end = text.find_first_not_of("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", name);
    replace(text, text.substr(name, end - name), kRegister);
    replace(text, kConstructor, "");
    text +=
        "\t.section\t.init_array.101,\"aw\",@init_array\n\t.p2align\t3, 0x0\n\t.quad\t__cuda_module_ctor\n"
        "\t.section\t.init_array.102,\"aw\",@init_array\n\t.p2align\t3, 0x0\n"
        "\t.quad\t__cudaRegisterLinkedBinaryEnd\n";
  }
  replace(text, "\t.globl\t__fatbinwrap__nv_", "\t.local\t__fatbinwrap__nv_");
  return text + link_symbols(program);
}

}  // namespace trine::cli
