// The text of inline PTX, taken apart: declarations, labels, instructions with guards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trine::simt {

struct PtxOperand {
  enum class Kind { name, integer, real, bits, address, sink };
  Kind kind = Kind::name;
  std::string text;      // the name, "$0" for an operand of the asm; the number; the base of an address
  std::string offset;    // of an address: a number
  bool negated = false;  // !p
  bool in_group = false;
};

struct PtxLine {
  enum class Kind { open, close, declaration, label, instruction };
  Kind kind = Kind::instruction;
  std::string name;  // label; opcode; type of declared registers
  std::string guard;
  bool guard_negated = false;
  std::vector<PtxOperand> operands;  // of a declaration: names
};

// Throws Error{unsupported} that shows the part that is not understood.
std::vector<PtxLine> parse_ptx(std::string_view text);

}  // namespace trine::simt
