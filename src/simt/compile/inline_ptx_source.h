// Inline PTX as a function in CUDA C++ that calls what src/simt/headers/ptx defines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trine::simt {

struct PtxFunction {
  std::string symbol;                // of the function
  std::string text;                  // the assembly, with operands as $0, $1, ...
  std::vector<std::string> outputs;  // types: "u32", "f64"; passed as pointers
  std::vector<std::string> inputs;   // by value, after the outputs
  std::vector<int> tied;             // which output an input is the first value of; -1: an operand of its own
  // Made by write_ptx_function:
  std::string source;
  bool uses_carry = false;              // the last argument is then a pointer to it
  bool needs_carry = false;             // reads it before it writes it
  std::vector<std::string> line_names;  // instructions by line of `source`, from 1
};

// Throws Error{unsupported} that names the instruction which is not there.
void write_ptx_function(PtxFunction& function);

// What comes first in the source that holds such functions; one line.
std::string_view ptx_functions_head();

}  // namespace trine::simt
