// The vector interpreter: runs a loop kernel without any code generator, a tile of up to 512 elements at a time. Each
// instruction is one function over a tile, chosen when the kernel is bound; a value that is the same along the vector
// loop is one register's worth of copies that is read again and again.
//
// Values lie in slots: f32, i32, u32 and boolean (0 or -1) four bytes an element, f64, i64, u64 eight. Functions work
// on whole groups of 16 elements; the slack behind a tile's end holds anything.
#pragma once

#include <cstdint>

#include "codegen/scalar.h"
#include "codegen/scalar_math.h"
#include "trine/base/cpu.h"
#include "trine/base/dtype.h"

namespace trine::codegen::interp {

constexpr int64_t kTile = 512;
constexpr int64_t kGroup = 16;

struct Frame {
  char** value;          // per value: where its elements are
  const int64_t* index;  // per loop: the running iteration
  int64_t n;             // elements of the running tile
  void* const* operands;
  char* slots;  // this thread's memory
};

struct LoopStride {
  int loop;
  int64_t bytes;  // of an index value: the factor itself
};

struct Op;
using Run = void (*)(const Op& op, Frame& frame);

struct Op {
  Run run = nullptr;
  Run after = nullptr;                   // of a cast: brings the result into the storage type's range
  int dst = -1, a = -1, b = -1, c = -1;  // values
  bool vector = false, vector_a = false, vector_b = false, vector_c = false;
  bool saturate = false;       // a cast's store to a small float
  DType memory = DType::none;  // of a load or store; of a cast, the storage type
  int operand = -1;
  int64_t size = 0;    // bytes of a memory element
  int64_t offset = 0;  // bytes; of an index value: the value
  const LoopStride* strides = nullptr;
  int stride_count = 0;
  int64_t step = 0;                // along the vector loop: bytes, or the factor of an index value
  int64_t steps_a = 0;             // bytes per unit of the dynamic offset a
  uint64_t bits = 0;               // constant
  const void* function = nullptr;  // called lane by lane
  const float* table = nullptr;    // of a small float's values
  int64_t slot = 0;                // where dst's own memory lies in Frame::slots
};

enum class Kind : uint8_t {
  constant,
  index,
  load,
  store,
  aim,
  unary,
  binary,
  select,
  cast,
  cast_after,
  fold_start,
  fold_lanes,
  fold_tile,
  fold_finish,
};

struct Query {
  Kind kind;
  ScalarOp op = ScalarOp::add;
  Reduce fold = Reduce::sum;
  DType type = DType::none;  // compute type of the operands; of a load's or store's value
  DType to = DType::none;    // of a cast: compute type of the result
  DType memory = DType::none;
};

// One per CPU level; null for what it cannot do.
Run find_baseline(const Query& query);
Run find_avx2(const Query& query);
Run find_avx512(const Query& query);

}  // namespace trine::codegen::interp
