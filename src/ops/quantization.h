// Quantisation parameters: one scale (and zero point) for the tensor, for each index of an axis, or for each block of
// `block_size` along the axis.
#pragma once

#include "codegen/lower.h"
#include "graph/eval.h"
#include "graph/infer.h"

namespace trine {

// Index into the scales for an element of x: outer = index before the axis, k on it, inner after it.
struct ScaleMap {
  int64_t inner = 1, length = 1, scales = 1, block = 1;  // of x's axis, of the scale's axis, elements to a block
  enum class Kind : uint8_t { tensor, axis, blocked } kind = Kind::tensor;

  int64_t operator()(int64_t element) const {
    if (kind == Kind::tensor) return 0;
    const int64_t k = element / inner % length;
    return kind == Kind::axis ? k : (element / (inner * length) * scales + k / block) * inner + element % inner;
  }
};

// For x and scale (input 1) with attributes axis (default 1) and block_size; fails when they do not go together.
ScaleMap scale_map(EvalContext& c, const Dims& x, const Dims& scale);
// The same check on symbolic shapes, as far as they are known; and that the zero point (input 2) has scale's shape.
void check_scales(InferContext& c);
// Index of the scale for the wanted element; nothing where ranks are unknown.
std::optional<codegen::Index> scale_index(codegen::LowerContext& c);
// The same for the zero point, whose rank may differ from scale's where both have one element.
codegen::Index zero_index(codegen::LowerContext& c, const codegen::Index& scale);

// Rounds to a float type of at most 64 bits.
double round_to(DType type, double value);

}  // namespace trine
