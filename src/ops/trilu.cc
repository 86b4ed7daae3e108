// Trilu: the upper (j >= i + k) or lower (j <= i + k) triangle of each matrix; the rest is zero.
#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

void infer_trilu(InferContext& c) {
  c.need_rank_at_least(0, 2);
  if (c.has(1) && c.shape(1).is_static() && c.shape(1).elements() != Dim(1))
    c.fail("k is " + c.input(1).text() + "; it must hold one element");
  infer_same_as_first(c);
}

void trilu_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (x.rank() < 2) c.fail("x is " + x.type_text() + "; its rank must be at least 2");
  const bool upper = c.attrs().integer("upper", 1) != 0;
  const int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  const int64_t given = c.has(1) ? scalar_integer(c, 1, "k") : 0;
  const int64_t k = std::clamp<int64_t>(given, -rows, columns);
  TensorBuilder y(x.dtype(), x.dims());
  y.zero();
  const int64_t lines = x.elements() == 0 ? 0 : x.elements() / columns;
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t diagonal = line % rows + k;
    const int64_t from = upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
    const int64_t to = upper ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
    y.copy(line * columns + from, x, line * columns + from, to - from);
  }
  c.set(0, y.take());
}

codegen::Scalar trilu_lower(codegen::LowerContext& c) {
  using codegen::ScalarOp;
  const auto rank = c.index().size();
  const auto column = c.index_value(c.index()[rank - 1]);
  auto diagonal = c.index_value(c.index()[rank - 2]);
  if (c.has(1)) diagonal = c.add(diagonal, c.load(1, codegen::Index(static_cast<size_t>(c.shape(1).rank()), Dim(0))));
  const bool upper = c.attrs().integer("upper", 1) != 0;
  const auto inside =
      upper ? c.apply(ScalarOp::less_equal, diagonal, column) : c.apply(ScalarOp::less_equal, column, diagonal);
  return c.load_if(inside, 0, c.index(), c.constant(c.output_type().dtype, 0));
}

const OpDef kTrilu = {.name = "trilu",
                      .onnx = "Trilu",
                      .doc = "y[..., i, j] = j >= i + k (upper) or j <= i + k (lower) ? x[..., i, j] : 0",
                      .types = "a x",
                      .min_inputs = 1,
                      .max_inputs = 2,
                      .infer = infer_trilu,
                      .reference = trilu_reference,
                      .lower = trilu_lower};
const RegisterOp kRegisterTrilu(kTrilu);

}  // namespace
}  // namespace trine
