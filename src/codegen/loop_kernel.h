// From a fusion group to something that runs:
//
//   Lowered l = lower_group(body);                       // at plan time, shapes symbolic
//   BoundKernel k = bind(l.kernels[0], bindings);        // at prepare time, shapes known
//   pool.parallel_for(k.units(), k.grain(), [&](int64_t b, int64_t e) { k.run(inputs, outputs, b, e); });
#pragma once

#include <memory>
#include <span>

#include "codegen/loop_ir.h"
#include "graph/graph.h"

namespace trine::codegen {

struct Lowered {
  std::vector<LoopKernel> kernels;  // one per class of output shapes; together they fill every output
  std::string refusal;              // why there are none
  explicit operator bool() const { return refusal.empty(); }
};

// Lowers the graph `body`; operand indices count in body.inputs and body.outputs. Constants of the body are kept as
// constant operands, single elements as immediates.
Lowered lower_group(const Graph& body);

// Lowers one node of `graph`; operand indices count in node.inputs and node.outputs. Constant inputs stay operands.
Lowered lower_node(const Graph& graph, const Node& node);

// What compiled code and the interpreter are called with.
struct LoopArgs {
  void* const* operands;    // in the kernel's order
  const int64_t* extents;   // per loop
  const int64_t* accesses;  // per access: offset, then a stride per loop, in elements
  const int64_t* at;        // indices of the parallel loops but the last, outermost first
  int64_t begin, end;       // iterations of the last parallel loop
  const void* const* math;  // functions that code calls lane by lane, see codegen/scalar_math.h
};
using LoopEntry = void (*)(const LoopArgs*);

// A kernel with every size known. Copies share their content. Run may be called from many threads at once.
class BoundKernel {
 public:
  BoundKernel() = default;
  int64_t units() const;  // independent pieces of work
  int64_t grain() const;  // units that are worth another thread
  bool compiled() const;  // runs machine code, not the interpreter
  // Whether part i of `parts` equal shares of the units touches exactly part i of every operand, whose bytes these are,
  // by position in the group; 0: an operand that may be read whole.
  bool divides(int64_t parts, std::span<const int64_t> input_bytes, std::span<const int64_t> output_bytes) const;
  // Pointers by position in the group. Units outside [begin, end) are left alone.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t begin, int64_t end) const;
  void run(std::span<const void* const> inputs, std::span<void* const> outputs) const {
    run(inputs, outputs, 0, units());
  }

  struct State;

 private:
  friend BoundKernel bind(const LoopKernel& kernel, const Bindings& bindings, LoopEntry entry);
  std::shared_ptr<const State> state_;
};

// Gives every Dim its number; throws Error for a symbol that has none. `entry`: compiled code for kernel.hash, or null:
// the interpreter. The kernel need not outlive the call.
BoundKernel bind(const LoopKernel& kernel, const Bindings& bindings, LoopEntry entry = nullptr);

// May output `output` use the memory of input `input`? Both must have equal byte sizes too.
bool may_share_memory(const LoopKernel& kernel, int input, int output);

}  // namespace trine::codegen
