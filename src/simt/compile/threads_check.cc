// What compiled kernels may still call: LLVM's own intrinsics, the runtime, and what the C library's mathematics has.
#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "simt/compile/threads.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// Also with an f at the end.
constexpr std::string_view kMath[] = {
    "acos",   "acosh",   "asin",   "asinh", "atan",      "atan2",     "atanh", "cbrt",      "ceil",   "copysign",
    "cos",    "cosh",    "erf",    "erfc",  "exp",       "exp10",     "exp2",  "expm1",     "fabs",   "fdim",
    "floor",  "fma",     "fmax",   "fmin",  "fmod",      "frexp",     "hypot", "ilogb",     "j0",     "j1",
    "jn",     "ldexp",   "lgamma", "log",   "log10",     "log1p",     "log2",  "logb",      "lrint",  "lround",
    "llrint", "llround", "modf",   "nan",   "nearbyint", "nextafter", "pow",   "remainder", "remquo", "rint",
    "round",  "scalbln", "scalbn", "sin",   "sincos",    "sinh",      "sqrt",  "tan",       "tanh",   "tgamma",
    "trunc",  "y0",      "y1",     "yn"};
constexpr std::string_view kMemory[] = {"memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"};

template <size_t n>
bool holds(const std::string_view (&list)[n], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

[[noreturn]] void refuse(const llvm::Instruction& at, const std::string& what) {
  const std::string in = llvm::demangle(at.getFunction()->getName());
  throw Error(ErrorCode::unsupported, fmt::format("cpu: {} in {}; the CPU has no such thing", what, in));
}

// Why inline PTX was left as it is.
void refuse_for_its_reason(const llvm::CallBase& call) {
  const llvm::MDNode* why = call.getMetadata("trine.why");
  if (!why) return;
  const std::string reason = llvm::cast<llvm::MDString>(why->getOperand(0))->getString().str();
  throw Error(ErrorCode::unsupported, fmt::format("{}, in {}", reason, llvm::demangle(call.getFunction()->getName())));
}

void check(const llvm::CallBase& call) {
  if (const auto* text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    refuse_for_its_reason(call);
    if (!text->getAsmString().empty()) refuse(call, fmt::format("inline assembly '{}'", text->getAsmString()));
    return;
  }
  const llvm::Function* function = call.getCalledFunction();
  if (!function || !function->isDeclaration()) return;
  const std::string name = function->getName().str();
  if (name.starts_with("llvm.nvvm.")) refuse(call, fmt::format("intrinsic '{}'", name));
  if (function->isIntrinsic() || is_known_function(name)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("cpu: function '{}' is declared but not defined; define it in the same source",
                          llvm::demangle(name)));
}

}  // namespace

bool is_known_function(std::string_view name) {
  if (name.starts_with("trine_simt_") || name.starts_with("trine_check_") || holds(kMath, name) || holds(kMemory, name))
    return true;
  return name.ends_with('f') && holds(kMath, name.substr(0, name.size() - 1));
}

void check_calls(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& instruction : block)
        if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) check(*call);
}

}  // namespace trine::simt
