// y = min(max(x, low), high); an absent bound does not bound, and neither does a NaN one; a NaN x stays. low > high
// gives high.
#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

static void infer(InferContext& c) {
  for (int i = 1; i < c.input_count(); ++i) {
    if (!c.has(i)) continue;
    if (c.shape(i).has_rank() && c.shape(i).rank() > 1) c.need_rank(i, 0);
    if (c.shape(i).has_rank() && c.shape(i).is_static() && c.shape(i).elements() != Dim(1))
      c.fail("bound " + c.input(i).text() + " has no single element");
  }
  c.set(0, c.dtype(0), c.shape(0));
}

static const Tensor& bound(EvalContext& c, int i) {
  const Tensor& t = c.tensor(i);
  if (t.elements() != 1) c.fail("bound " + t.type_text() + " has no single element");
  return t;
}

// At least `low` (is_less(x, low) decides) resp. at most `high`.
template <class T, class Less>
static void clip(std::vector<T>& x, const std::vector<T>& low, const std::vector<T>& high, Less less) {
  for (T& v : x) {
    if (!low.empty() && less(v, low[0])) v = low[0];
    if (!high.empty() && less(high[0], v)) v = high[0];
  }
}

static void reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (is_float(x.dtype())) {
    std::vector<double> values = x.f64_values();
    clip(values, c.has(1) ? bound(c, 1).f64_values() : std::vector<double>{},
         c.has(2) ? bound(c, 2).f64_values() : std::vector<double>{}, [](double a, double b) { return a < b; });
    return c.set(0, Tensor::from_f64(x.dtype(), x.dims(), values));
  }
  std::vector<int64_t> values = x.i64_values();
  const bool full = x.dtype() == DType::u64;
  clip(values, c.has(1) ? bound(c, 1).i64_values() : std::vector<int64_t>{},
       c.has(2) ? bound(c, 2).i64_values() : std::vector<int64_t>{},
       [full](int64_t a, int64_t b) { return full ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b; });
  c.set(0, Tensor::from_i64(x.dtype(), x.dims(), values));
}

static Scalar lower(LowerContext& c) {
  if (!has_loop_form(c.input_type(0).dtype)) return {};
  auto bound = [&](int i) { return c.load(i, codegen::Index(static_cast<size_t>(c.shape(i).rank()), Dim(0))); };
  for (int i : {1, 2})
    if (c.has(i) && !c.shape(i).has_rank()) return {};
  Scalar y = c.load(0);
  if (c.has(1)) y = c.select(c.apply(ScalarOp::less, y, bound(1)), bound(1), y);
  if (c.has(2)) y = c.select(c.apply(ScalarOp::less, bound(2), y), bound(2), y);
  return y;
}

static const OpDef kClip = {.name = "clip",
                            .onnx = "Clip",
                            .doc = "min(max(x, low), high)",
                            .types = "Tfi T T",
                            .min_inputs = 1,
                            .max_inputs = 3,
                            .infer = infer,
                            .reference = reference,
                            .lower = lower,
                            .elementwise = true};
static const RegisterOp kRegistered(kClip);

}  // namespace trine
