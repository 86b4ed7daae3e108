// OpDef: one definition per operator. The meaning is that of the newest ONNX version of the operator; the importer
// rewrites older versions into it (import/onnx/versions.cc).
#pragma once

#include <span>
#include <string_view>

namespace trine {

class InferContext;  // graph/infer.h
class EvalContext;   // graph/eval.h
namespace codegen {
class LowerContext;  // codegen/lower.h
struct Scalar;
}  // namespace codegen

struct OpDef {
  std::string_view name;       // "softmax": snake_case, unique
  std::string_view onnx = {};  // "Softmax", "ai.onnx.ml:TreeEnsemble", "com.microsoft:Gelu"; empty: internal
  std::string_view doc = {};   // one line: the formula
  const char* types = "";      // element types of the inputs: "Tf T T", as graph/operand_types.h says

  int min_inputs = 1;
  int max_inputs = 1;  // -1: any number
  int min_outputs = 1;
  int max_outputs = 1;  // -1: any number

  void (*infer)(InferContext&) = nullptr;     // types and symbolic shapes of the outputs; checks the inputs
  void (*reference)(EvalContext&) = nullptr;  // plain loops, f64 sums: the oracle, and the fallback kernel

  // Value of output element `context.index()`; runs on every backend. Null: runs as kernel row or on the host. It
  // returns Scalar{} (id -1) for a node that has no loop form after all (axes unknown, a string, ...).
  codegen::Scalar (*lower)(codegen::LowerContext&) = nullptr;

  bool elementwise = false;  // output[i] depends only on input[i] after broadcasting
  bool commutative = false;  // of the first two inputs
  bool view = false;         // output 0 is input 0's elements in the same order (reshape, squeeze, identity)
  bool impure = false;       // differs from run to run (random without a seed): never folded, never shared
};

// Every operator registers itself when its object file is linked: put one of these beside the definition.
class RegisterOp {
 public:
  explicit RegisterOp(const OpDef& def);
};

const OpDef* find_op(std::string_view name);            // null when there is none
const OpDef* find_onnx_op(std::string_view onnx_name);  // "Softmax", "com.microsoft:Gelu"
const OpDef& op(std::string_view name);                 // stops the program when there is none
std::span<const OpDef* const> all_ops();                // sorted by name

}  // namespace trine
