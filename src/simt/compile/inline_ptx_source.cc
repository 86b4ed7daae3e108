#include "simt/compile/inline_ptx_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "simt/compile/inline_ptx_text.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

using Kind = PtxOperand::Kind;

constexpr std::string_view kInstructions[] = {"abs",          "activemask",
                                              "add",          "addc",
                                              "and",          "applypriority",
                                              "atom",         "bar",
                                              "barrier",      "bfe",
                                              "bfi",          "bfind",
                                              "bmsk",         "brev",
                                              "brkpt",        "clz",
                                              "cnot",         "copysign",
                                              "cos",          "cp",
                                              "createpolicy", "cvt",
                                              "cvta",         "discard",
                                              "div",          "dp2a",
                                              "dp4a",         "elect",
                                              "ex2",          "exit",
                                              "fence",        "fma",
                                              "fns",          "griddepcontrol",
                                              "isspacep",     "ld",
                                              "ldmatrix",     "ldu",
                                              "lg2",          "lop3",
                                              "mad",          "mad24",
                                              "madc",         "match",
                                              "max",          "mbarrier",
                                              "membar",       "min",
                                              "mma",          "mov",
                                              "movmatrix",    "mul",
                                              "mul24",        "nanosleep",
                                              "neg",          "not",
                                              "or",           "pmevent",
                                              "popc",         "prefetch",
                                              "prefetchu",    "prmt",
                                              "rcp",          "red",
                                              "redux",        "rem",
                                              "rsqrt",        "sad",
                                              "selp",         "set",
                                              "setmaxnreg",   "setp",
                                              "shf",          "shfl",
                                              "shl",          "shr",
                                              "sin",          "slct",
                                              "sqrt",         "st",
                                              "stmatrix",     "sub",
                                              "subc",         "szext",
                                              "tanh",         "testp",
                                              "trap",         "vote",
                                              "xor"};
constexpr std::string_view kTypes[] = {"u8",  "u16",  "u32",    "u64",    "s8",    "s16",  "s32",    "s64",  "b8",
                                       "b16", "b32",  "b64",    "f16",    "f16x2", "bf16", "bf16x2", "tf32", "f32",
                                       "f64", "pred", "e4m3x2", "e5m2x2", "s4",    "u4",   "b1"};
constexpr std::string_view kTypeless[] = {
    "activemask", "applypriority", "bar",       "barrier",        "brkpt",    "cp",     "discard",
    "elect",      "exit",          "fence",     "griddepcontrol", "isspacep", "membar", "nanosleep",
    "pmevent",    "prefetch",      "prefetchu", "setmaxnreg",     "trap"};
constexpr std::string_view kCarry[] = {"add", "addc", "sub", "subc", "mad", "madc"};

struct Register {
  std::string_view name, expression;
};
constexpr Register kRegisters[] = {
    {"%tid.x", "threadIdx.x"},
    {"%tid.y", "threadIdx.y"},
    {"%tid.z", "threadIdx.z"},
    {"%ntid.x", "blockDim.x"},
    {"%ntid.y", "blockDim.y"},
    {"%ntid.z", "blockDim.z"},
    {"%ctaid.x", "blockIdx.x"},
    {"%ctaid.y", "blockIdx.y"},
    {"%ctaid.z", "blockIdx.z"},
    {"%nctaid.x", "gridDim.x"},
    {"%nctaid.y", "gridDim.y"},
    {"%nctaid.z", "gridDim.z"},
    {"%laneid", "unsigned(__nvvm_read_ptx_sreg_laneid())"},
    {"%warpid", "unsigned(__nvvm_read_ptx_sreg_warpid())"},
    {"%nwarpid", "unsigned(__nvvm_read_ptx_sreg_nwarpid())"},
    {"%lanemask_eq", "unsigned(__nvvm_read_ptx_sreg_lanemask_eq())"},
    {"%lanemask_lt", "unsigned(__nvvm_read_ptx_sreg_lanemask_lt())"},
    {"%lanemask_le", "unsigned(__nvvm_read_ptx_sreg_lanemask_le())"},
    {"%lanemask_gt", "unsigned(__nvvm_read_ptx_sreg_lanemask_gt())"},
    {"%lanemask_ge", "unsigned(__nvvm_read_ptx_sreg_lanemask_ge())"},
    {"%smid", "unsigned(__nvvm_read_ptx_sreg_smid())"},
    {"%nsmid", "unsigned(__nvvm_read_ptx_sreg_nsmid())"},
    {"%gridid", "u64(1)"},
    {"%clock", "unsigned(__nvvm_read_ptx_sreg_clock())"},
    {"%clock_hi", "unsigned(__nvvm_read_ptx_sreg_clock64() >> 32)"},
    {"%clock64", "u64(__nvvm_read_ptx_sreg_clock64())"},
    {"%globaltimer", "u64(__nvvm_read_ptx_sreg_globaltimer())"},
    {"%globaltimer_lo", "unsigned(__nvvm_read_ptx_sreg_globaltimer())"},
    {"%globaltimer_hi", "unsigned(__nvvm_read_ptx_sreg_globaltimer() >> 32)"},
    {"%dynamic_smem_size", "unsigned(__nvvm_read_ptx_sreg_dynamic_smem_size())"},
    {"%clusterid.x", "blockIdx.x"},
    {"%clusterid.y", "blockIdx.y"},
    {"%clusterid.z", "blockIdx.z"},
    {"%nclusterid.x", "gridDim.x"},
    {"%cluster_ctaid.x", "0u"},
    {"%cluster_ctaid.y", "0u"},
    {"%cluster_ctaid.z", "0u"},
    {"%cluster_nctaid.x", "1u"},
    {"%cluster_ctarank", "0u"},
    {"%cluster_nctarank", "1u"},
    {"WARP_SZ", "32u"},
};

template <class Range>
bool holds(const Range& range, std::string_view what) {
  return std::find(std::begin(range), std::end(range), what) != std::end(range);
}

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(ErrorCode::unsupported, fmt::format("cpu: inline PTX '{}'; {}", what, why));
}

std::vector<std::string> parts_of(std::string_view opcode) {
  std::vector<std::string> parts;
  while (!opcode.empty()) {
    const size_t dot = std::min(opcode.find('.'), opcode.size());
    parts.emplace_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  return parts;
}

// A C++ type for a register of this type; registers have no sign.
std::string register_type(const std::string& type) {
  if (type == "pred") return "bool";
  if (type == "f32" || type == "f64") return type;
  for (const char* bits : {"8", "16", "32", "64"})
    if (type.substr(1) == bits) return std::string("u") + bits;
  if (type == "f16x2" || type == "bf16x2") return "u32";
  refuse(".reg ." + type, "registers have 8 to 64 bits");
}

std::string name_of(const std::string& name) {
  std::string result = "r_";
  for (char c : name) result += c == '%' ? "p_" : c == '$' ? "d_" : std::string(1, c);
  return result;
}

class Writer {
 public:
  explicit Writer(PtxFunction& function) : function_(function) {}

  void write() {
    const std::vector<PtxLine> lines = parse_ptx(function_.text);
    std::string body;
    for (const PtxLine& line : lines) {
      body += statement(line) + "\n";
      function_.line_names.push_back(line.name);
    }
    function_.source = head() + "\n" + body + tail() + "\n";
    function_.line_names.insert(function_.line_names.begin(), "");
    function_.line_names.push_back("");
  }

 private:
  std::string head() const {
    std::string arguments, values;
    size_t next = 0;
    const auto argument = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
    for (const std::string& type : function_.outputs) {
      argument(fmt::format("{}* o{}", type, next));
      values += fmt::format("{} a{} = {}(); ", type, next, type);
      ++next;
    }
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      argument(fmt::format("{} i{}", function_.inputs[i], i));
      const bool is_pointer = function_.inputs[i] == "void*";
      const std::string value = is_pointer ? fmt::format("u64(i{})", i) : fmt::format("i{}", i);
      if (function_.tied[i] >= 0) values += fmt::format("a{} = {}; ", function_.tied[i], value);
      // Tied inputs have numbers too.
      values += fmt::format("{} a{} = {}; ", is_pointer ? "u64" : function_.inputs[i], next++, value);
    }
    if (function_.uses_carry) argument("u32* carry_at");
    return fmt::format(
        "extern \"C\" __device__ __attribute__((always_inline)) void {}({}) {{ using namespace trine_ptx; {}{}",
        function_.symbol, arguments, values,
        function_.uses_carry ? "u32 carry = *carry_at; " : "u32 carry = 0; (void)carry; ");
  }

  std::string tail() const {
    std::string text;
    for (size_t i = 0; i < function_.outputs.size(); ++i) text += fmt::format("*o{} = a{}; ", i, i);
    return text + (function_.uses_carry ? "*carry_at = carry; }" : "}");
  }

  std::string statement(const PtxLine& line) {
    switch (line.kind) {
      case PtxLine::Kind::open: return "{";
      case PtxLine::Kind::close: return "}";
      case PtxLine::Kind::label: return name_of(line.name) + ":;";
      case PtxLine::Kind::declaration: return declaration(line);
      default: return instruction(line);
    }
  }

  std::string declaration(const PtxLine& line) {
    std::string text;
    for (const PtxOperand& operand : line.operands) {
      declared_.insert(operand.text);
      text += fmt::format("{} {}; ", register_type(line.name), name_of(operand.text));
    }
    return text;
  }

  std::string value(const std::string& name) const {
    if (name.starts_with('$')) return "a" + name.substr(1);
    if (declared_.contains(name)) return name_of(name);
    for (const Register& row : kRegisters)
      if (row.name == name) return std::string(row.expression);
    refuse(name, "no register of this asm has this name");
  }

  static std::string bits(const std::string& text) {
    const std::string digits = "0x" + text.substr(text.find_first_of("fFdD") + 1);
    const bool is_float = text[1] == 'f' || text[1] == 'F';
    return is_float ? fmt::format("__builtin_bit_cast(float, u32({}u))", digits)
                    : fmt::format("__builtin_bit_cast(double, u64({}ull))", digits);
  }

  std::string operand(const PtxOperand& operand) const {
    switch (operand.kind) {
      case Kind::sink: return "Sink{}";
      case Kind::integer: return fmt::format("Integer{{s64({}ull)}}", without_suffix(operand.text));
      case Kind::real: return fmt::format("Real{{{}}}", operand.text);
      case Kind::bits: return bits(operand.text);
      case Kind::address: {
        const bool is_number = operand.offset[0] == '-' || std::isdigit(static_cast<unsigned char>(operand.offset[0]));
        return fmt::format("at({}, s64({}))", value(operand.text), is_number ? operand.offset : value(operand.offset));
      }
      default: return (operand.negated ? "!" : "") + value(operand.text);
    }
  }

  static std::string without_suffix(const std::string& text) {
    return text.ends_with('U') || text.ends_with('u') ? text.substr(0, text.size() - 1) : text;
  }

  std::string instruction(const PtxLine& line) {
    const std::string guard =
        line.guard.empty() ? "" : fmt::format("if ({}{}) ", line.guard_negated ? "!" : "", value(line.guard));
    const std::vector<std::string> parts = parts_of(line.name);
    if (parts[0] == "bra") {
      if (line.operands.size() != 1) refuse(line.name, "one label is accepted");
      return guard + "goto " + name_of(line.operands[0].text) + ";";
    }
    if (!holds(kInstructions, parts[0])) refuse(line.name, "the CPU has no such instruction");
    if (parts[0] != "mov" && parts[0] != "cvt")  // as GPUs' assembler has it
      for (const PtxOperand& each : line.operands)
        if (each.text.starts_with('%') && !declared_.contains(each.text))
          refuse(line.name + " of " + each.text, "special registers are read by mov and cvt");
    return guard + call(line, parts) + ";";
  }

  std::string call(const PtxLine& line, const std::vector<std::string>& parts) {
    std::string name = parts[0], opcode, types, operands;
    for (const std::string& part : parts) {
      opcode += (opcode.empty() ? "" : ".") + normal(part);
      if (holds(kTypes, part)) types += ", " + part;
    }
    if (name == "mov" && line.operands.size() > 2) name = line.operands[0].in_group ? "unpack" : "pack";
    if (holds(kTypeless, name) && !name.starts_with("bar")) types.clear();
    else if (types.empty() && !name.starts_with("bar")) types = ", b32";
    if (name == "activemask") types = ", b32";
    if (name == "cvta") types = ", b64";
    for (const PtxOperand& each : line.operands) operands += (operands.empty() ? "" : ", ") + operand(each);
    note_carry(parts);
    if (holds(kCarry, parts[0])) operands += ", carry";
    return fmt::format("i_{}<\"{}\"{}>({})", name, opcode, types, operands);
  }

  static std::string normal(const std::string& part) {
    if (part == "shared::cta" || part == "shared::cluster") return "shared";
    return part;
  }

  void note_carry(const std::vector<std::string>& parts) {
    const bool reads = parts[0] == "addc" || parts[0] == "subc" || parts[0] == "madc";
    if (reads && !function_.uses_carry) function_.needs_carry = true;
    if (reads || holds(parts, "cc")) function_.uses_carry = true;
  }

  PtxFunction& function_;
  std::set<std::string> declared_;
};

}  // namespace

void write_ptx_function(PtxFunction& function) { Writer(function).write(); }

std::string_view ptx_functions_head() { return "#include <ptx/all.h>\nusing namespace trine_ptx;\n"; }

}  // namespace trine::simt
