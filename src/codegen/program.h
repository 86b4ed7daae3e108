// The interpreter's form of a bound kernel: a tree of loops over interpreter functions.
#pragma once

#include <deque>

#include "codegen/bound.h"
#include "codegen/interp.h"

namespace trine::codegen::interp {

struct Node {
  enum class Kind : uint8_t { op, loop, vector_loop, fold };
  Kind kind = Kind::op;
  Op op;                 // of a fold: starts its running result
  Run finish = nullptr;  // of a fold along a vector loop
  int loop = -1;
  std::vector<Node> body;
};

struct Program {
  std::vector<Node> root;
  std::deque<std::vector<LoopStride>> strides;  // what the ops point into
  std::vector<int64_t> extents;
  std::vector<int> parallel;   // loops, outermost first
  std::vector<int64_t> slots;  // per value: offset of its slot
  size_t slot_bytes = 0;
};

Program translate(const LoopKernel& kernel, const Numbers& numbers);

// Offsets of every value's slot; memory is reused once nothing later reads it. Sets the total.
std::vector<int64_t> plan_slots(const LoopKernel& kernel, size_t& bytes);

// One thread's run of a program.
class Executor {
 public:
  // Needs this much 64-byte aligned memory.
  static size_t memory_bytes(const Program& program);
  Executor(const Program& program, void* const* operands, char* memory);
  // Iterations [begin, end) of the last parallel loop, the others standing at `at`.
  void run(const int64_t* at, int64_t begin, int64_t end);

 private:
  void block(const std::vector<Node>& nodes);
  void loop(const Node& node);
  void tiles(const Node& node);

  const Program& program_;
  Frame frame_{};
  int64_t* index_;          // per loop
  int64_t *first_, *last_;  // per loop: its range
};

}  // namespace trine::codegen::interp
