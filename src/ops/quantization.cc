#include "ops/quantization.h"

#include <fmt/format.h>

#include "base/float_formats.h"
#include "ops/types.h"

namespace trine {

// A vector has one axis whatever the attribute says; ONNX defaults it to 1.
template <class Context>
static int quantized_axis(const Context& c, int rank) {
  return rank == 1 ? 0 : c.axis(c.attrs().integer("axis", 1), rank);
}

ScaleMap scale_map(EvalContext& c, const Dims& x, const Dims& scale) {
  ScaleMap map;
  const int64_t block = c.attrs().integer("block_size");
  if (element_count(scale) == 1 && (block == 0 || scale.size() != x.size())) return map;
  if (x.empty()) c.fail(fmt::format("scale [{}] for a scalar; one element is needed", to_string(scale)));
  const int axis = quantized_axis(c, static_cast<int>(x.size()));
  const auto a = static_cast<size_t>(axis);
  map.length = x[a];
  for (size_t d = a + 1; d < x.size(); ++d) map.inner *= x[d];
  if (block == 0) {
    map.kind = ScaleMap::Kind::axis;
    if (scale.size() != 1 || scale[0] != map.length)
      c.fail(fmt::format("scale [{}] for x [{}]; one element, or {} for axis {}, is needed", to_string(scale),
                         to_string(x), map.length, axis));
    return map;
  }
  map.kind = ScaleMap::Kind::blocked;
  map.block = block;
  Dims want = x;
  if (block > 0) want[a] = map.length / block + (map.length % block != 0);
  if (block < 0 || scale != want)
    c.fail(fmt::format("scale [{}] for x [{}] in blocks of {} on axis {}; [{}] is needed", to_string(scale),
                       to_string(x), block, axis, to_string(want)));
  map.scales = want[a];
  return map;
}

void check_scales(InferContext& c) {
  const int64_t block = c.attrs().integer("block_size");
  if (block < 0) c.fail(fmt::format("block_size is {}; it must not be negative", block));
  const Shape &x = c.shape(0), &scale = c.shape(1), &zero = c.shape(2);
  const bool single_zero = zero.is_static() && element_count(zero.static_dims()) == 1;  // [] or [1], whatever scale has
  if (c.has(2) && zero.has_rank() && scale.has_rank() && zero.rank() != scale.rank() && !single_zero)
    c.fail(
        fmt::format("zero point is {}, scale {}; they must have the same shape", c.input(2).text(), c.input(1).text()));
  for (int i = 0; c.has(2) && zero.has_rank() && scale.has_rank() && zero.rank() == scale.rank() && i < zero.rank();
       ++i)
    if (!single_zero && zero[i].is_constant() && scale[i].is_constant() && zero[i] != scale[i])
      c.fail(fmt::format("zero point is {}, scale {}; they must have the same shape", c.input(2).text(),
                         c.input(1).text()));
  if (!x.has_rank() || !scale.has_rank() || scale.rank() == 0) return;
  if (scale.is_static() && element_count(scale.static_dims()) == 1) return;
  if (x.rank() == 0) c.fail(fmt::format("scale is {} for a scalar; one element is needed", c.input(1).text()));
  const int axis = quantized_axis(c, x.rank());
  if (block != 0) {
    c.need_rank(1, x.rank());
    for (int i = 0; i < x.rank(); ++i) {
      const Dim want = i == axis ? ceil_div(x[i], block) : x[i];
      if (want.is_constant() && scale[i].is_constant() && want != scale[i])
        c.fail(fmt::format("scale is {} for x {} in blocks of {} on axis {}; dimension {} must be {}",
                           c.input(1).text(), c.input(0).text(), block, axis, i, want.text()));
    }
    return;
  }
  c.need_rank(1, 1);
  if (scale[0].is_constant() && x[axis].is_constant() && scale[0] != x[axis])
    c.fail(fmt::format("scale is {} for axis {} of x {}; they must have the same length", c.input(1).text(), axis,
                       c.input(0).text()));
}

std::optional<codegen::Index> scale_index(codegen::LowerContext& c) {
  const Shape &x = c.shape(0), &scale = c.shape(1);
  if (!x.has_rank() || !scale.has_rank()) return std::nullopt;
  const bool single = scale.rank() == 0 || (scale.is_static() && element_count(scale.static_dims()) == 1);
  if (single) return codegen::Index(static_cast<size_t>(scale.rank()), Dim(0));
  const int64_t given = c.attrs().integer("axis", 1), block = c.attrs().integer("block_size");
  const auto axis = static_cast<size_t>(x.rank() == 1 ? 0 : given < 0 ? given + x.rank() : given);
  if (block == 0) return codegen::Index{c.index()[axis]};
  codegen::Index index = c.index();
  index[axis] = floor_div(index[axis], block);
  return index;
}

codegen::Index zero_index(codegen::LowerContext& c, const codegen::Index& scale) {
  const Shape& zero = c.shape(2);
  if (!zero.has_rank() || zero.rank() == static_cast<int>(scale.size())) return scale;
  return codegen::Index(static_cast<size_t>(zero.rank()), Dim(0));
}

double round_to(DType type, double value) {
  if (type == DType::f32) return static_cast<float>(value);
  return type == DType::f16 || type == DType::bf16 ? small_float_value(type, small_float_bits(type, value)) : value;
}

}  // namespace trine
