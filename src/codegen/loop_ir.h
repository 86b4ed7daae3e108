// Loop IR: what a fused group computes, free of any machine. Renderers: the vector interpreter, LLVM, later CUDA.
//
//   extents   e0 e1 ...                      one Dim per loop
//   accesses  offset + sum(loop_i * stride_i)   affine, in elements; every part a Dim over shape symbols
//   insts     hash-consed expressions over loops: pure, so the same one may be computed in several blocks
//   body      the nest: which loop stands in which, where each inst is computed, folds, stores
//
// Code depends on the insts, the nest and each access's stride class along the vector loop. Numbers (extents, strides,
// offsets) are run-time arguments: one compiled kernel serves many shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/scalar.h"
#include "trine/base/tensor.h"

namespace trine::codegen {

constexpr int kMaxLoops = 24;
constexpr int kReduceLanes = 32;  // a fold along a vector loop keeps this many partial results, whatever the machine

using LoopSet = uint32_t;
constexpr LoopSet loop_bit(int loop) { return LoopSet{1} << loop; }

// How an address moves from one iteration of a loop to the next.
enum class StrideClass : uint8_t { zero, one, other };

struct Access {
  int operand = -1;  // -1: not a memory access but the value of an index expression
  Dim offset;
  std::vector<Dim> strides;  // one per loop
};

enum class InstKind : uint8_t {
  constant,  // `bits`, an image of `type`
  index,     // i64: the value of `access`
  load,      // element of `access` (+ dynamic offset a); where mask b is false: c, and nothing is read
  unary,
  binary,  // `op` of a, b
  select,  // a ? b : c
  cast,    // a to `to` by ONNX Cast rules; narrow integers and small floats stay in their compute type
  reduce,  // a folded with `fold` over `loops`
};

struct Inst {
  InstKind kind = InstKind::constant;
  ScalarOp op = ScalarOp::add;
  Reduce fold = Reduce::sum;
  DType type = DType::none;    // compute type: f32, f64, i32, i64, u32, u64 or boolean
  DType to = DType::none;      // of a cast: what is cast to
  int a = -1, b = -1, c = -1;  // operands; -1: none
  int access = -1;
  uint64_t bits = 0;
  std::vector<int> loops;  // of a reduce, outermost first
  LoopSet deps = 0;        // loops that the value depends on
};

struct Step;
using Block = std::vector<Step>;

struct Step {
  enum class Kind : uint8_t {
    compute,  // inst; with an access: read back from the row buffer that an earlier store filled
    loop,     // body for each iteration of `loop`
    reduce,   // inst is the fold; body holds the loops, innermost of them a `fold` step
    fold,     // the value of inst's operand a joins the running result
    store,    // value `inst` to `access`
  };
  Kind kind = Kind::compute;
  int inst = -1;
  int loop = -1;
  int access = -1;
  Block body;
};

struct Operand {
  enum class Kind : uint8_t { input, output, constant, scratch };
  Kind kind = Kind::input;
  int index = 0;  // of an input or output: its position in the group
  DType dtype = DType::none;
  Tensor constant;  // of a constant
  Dim elements;     // of a scratch: one thread's row buffer
};

struct LoopKernel {
  std::vector<Operand> operands;
  std::vector<Dim> extents;
  std::vector<Access> accesses;
  std::vector<Inst> insts;
  Block body;
  std::vector<int> nest;     // the output's loops, outermost first
  int parallel = 0;          // the first this many of `nest` may be split over threads
  LoopSet vector_loops = 0;  // at most one on any path through the nest
  uint64_t hash = 0;         // of everything that code depends on: equal hashes share code

  bool is_vector(const Inst& inst) const { return (inst.deps & vector_loops) != 0; }
  // zero, or other; one only along a vector loop.
  StrideClass stride_class(const Access& access, int loop) const;
  std::string text() const;
};

}  // namespace trine::codegen
