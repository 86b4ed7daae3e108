// The whole text: types, sizes, functions, the kernel.
#include "codegen/cuda/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/math_text.h"
#include "codegen/cuda/scalar_text.h"

namespace trine::codegen {
namespace {

constexpr size_t kMostSizeBytes = 3000;  // of the 4096 of parameters, most of the rest are addresses

std::string numbers_text(const ThreadSchedule& s) {
  std::string out = fmt::format("using Index = {};\n", s.wide_index ? "long long" : "int");
  if (!s.packed) return out;
  out += fmt::format("constexpr int kWidth = {};\n", s.width);
  return out + "#define EACH _Pragma(\"unroll\") for (int u = 0; u < kWidth; ++u)\n";
}

bool is_passed(const Operand& o) { return o.kind != Operand::Kind::scratch; }

}  // namespace

std::string KernelWriter::parameters(bool with_types) const {
  std::string out;
  for (size_t i = 0; i < k_.operands.size(); ++i) {
    const Operand& o = k_.operands[i];
    if (!is_passed(o)) continue;
    const char* constant = o.kind == Operand::Kind::output ? "" : "const ";
    out += with_types ? fmt::format(", {}{}* p{}", constant, memory_type_text(o.dtype), i) : fmt::format(", p{}", i);
  }
  return out;
}

std::string KernelWriter::functions() const {
  std::set<ScalarOp> used;
  for (const Inst& i : k_.insts)
    if (i.kind == InstKind::unary && i.type == DType::f32 && !function_name(i.op).empty()) used.insert(i.op);
  std::string out;
  for (ScalarOp op : used) out += function_text(op);
  return out;
}

KernelText KernelWriter::run() {
  points();
  if (s_.edge) {
    squares();
  } else {
    path();
    row_block();
  }
  const std::string name = fmt::format("loops_{:016x}", k_.hash);
  const bool by_address = sizes_.bytes().size() > kMostSizeBytes;
  std::string text =
      "#include \"loops.cuh\"\n\nnamespace loops {\n\n" + numbers_text(s_) + sizes_.declaration() + "\n" + functions();
  text += fmt::format("{}__device__ inline void body(const Sizes& s{}) {{\n{}}}\n\n",
                      packs_.empty() ? "" : "template <bool kWide>\n", parameters(true), out_.text());
  text += fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}{}) {{\n", s_.block_x * s_.block_y, name,
                      by_address ? "const Sizes* given" : "const __grid_constant__ Sizes given", parameters(true));
  if (s_.overlap) text += "  trine::let_next_begin();\n  trine::wait_for_previous();\n";
  const std::string arguments = (by_address ? "*given" : "given") + parameters(false);
  if (packs_.empty()) {
    text += fmt::format("  body({});\n", arguments);
  } else {
    std::string aligned;
    for (int operand : packs_)
      aligned += fmt::format("{}is_aligned<kWidth>(p{})", aligned.empty() ? "" : " && ", operand);
    text += fmt::format("  if ({}) body<true>({});\n  else body<false>({});\n", aligned, arguments, arguments);
  }
  text += "}\n\n}  // namespace loops\n";
  KernelText result{std::move(text), name, {}, sizes_.bytes(), by_address};
  for (size_t i = 0; i < k_.operands.size(); ++i)
    if (is_passed(k_.operands[i])) result.operands.push_back(static_cast<int>(i));
  return result;
}

KernelText render_kernel(const BoundLoops& loops, const ThreadSchedule& schedule) {
  return KernelWriter(loops, schedule).run();
}

}  // namespace trine::codegen
