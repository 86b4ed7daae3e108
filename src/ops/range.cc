// Range: start, start + delta, ... before limit.  n = max(ceil((limit - start) / delta), 0); y[i] = start + i * delta.
// f16 and bf16 are stepped in f32 at least (stash_type): here in f64, rounded once.
#include <cmath>

#include "ops/node_error.h"
#include "ops/shape_rules.h"
#include "trine/base/error.h"

namespace trine {
namespace {

// In 128 bits: the difference of two int64 needs 65.
int64_t integer_count(int64_t start, int64_t limit, int64_t delta) {
  const __int128 span = static_cast<__int128>(limit) - start;
  if ((span > 0) != (delta > 0) || span == 0) return 0;
  const __int128 size = span > 0 ? span : -span, step = delta > 0 ? delta : -static_cast<__int128>(delta);
  return static_cast<int64_t>(std::min<__int128>((size + step - 1) / step, kMaxElements + 1));
}

int64_t real_count(double start, double limit, double delta) {
  const double n = std::ceil((limit - start) / delta);
  return n > 0 ? static_cast<int64_t>(std::min(n, static_cast<double>(kMaxElements) + 1)) : 0;
}

void infer_range(InferContext& c) {
  for (int i = 0; i < 3; ++i)
    if (c.shape(i).has_rank() && c.shape(i).rank() > 1)
      c.fail("input " + std::to_string(i) + " is " + c.input(i).text() + "; it must be a scalar");
  const DType dtype = c.dtype(0);
  const auto start = c.content(0), limit = c.content(1), delta = c.content(2);
  if (start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1) {
    const Dim &s = (*start)[0], &l = (*limit)[0], &d = (*delta)[0];
    if (d == Dim(0)) c.fail("delta is 0; it must not be");
    if (s.constant() && l.constant() && d.constant()) {
      const int64_t n = integer_count(s.value(), l.value(), d.value());
      c.set(0, dtype, {Dim(n)});
      if (n > kMaxContent) return;
      std::vector<Dim> values;
      for (int64_t i = 0; i < n; ++i) values.push_back(i == 0 ? s : values.back() + d);
      c.set_content(0, std::move(values));
      return;
    }
    if (d.constant()) {
      const Dim n = d.value() > 0 ? ceil_div(l - s, d) : ceil_div(s - l, Dim(0) - d);
      // 0 .. limit in steps of 1 has limit elements: limits that shapes give are not negative.
      c.set(0, dtype, {s == Dim(0) && d == Dim(1) ? n : max(n, 0)});
      return;
    }
  }
  const Tensor a = c.constant(0), b = c.constant(1), d = c.constant(2);
  if (a.defined() && b.defined() && d.defined() && is_float(dtype) && a.elements() == 1 && b.elements() == 1 &&
      d.elements() == 1) {
    c.set(0, dtype, {Dim(real_count(a.f64_values()[0], b.f64_values()[0], d.f64_values()[0]))});
    return;
  }
  c.set(0, dtype, {c.fresh("range")});
}

double scalar_real(const EvalContext& c, int i) {
  const Tensor& t = c.tensor(i);
  if (t.elements() != 1) c.fail("input " + std::to_string(i) + " is " + t.type_text() + "; it must be a scalar");
  return t.f64_values()[0];
}

void range_reference(EvalContext& c) {
  const DType dtype = c.tensor(0).dtype();
  if (is_float(dtype)) {
    const double start = scalar_real(c, 0), delta = scalar_real(c, 2);
    if (delta == 0) c.fail("delta is 0; it must not be");
    std::vector<double> values(value_count(Dims{real_count(start, scalar_real(c, 1), delta)}));
    for (size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<double>(i) * delta;
    c.set(0, Tensor::from_f64(dtype, {static_cast<int64_t>(values.size())}, values));
    return;
  }
  const int64_t start = scalar_integer(c, 0, "start"), delta = scalar_integer(c, 2, "delta");
  if (delta == 0) c.fail("delta is 0; it must not be");
  const int64_t n = integer_count(start, scalar_integer(c, 1, "limit"), delta);
  std::vector<int64_t> values(value_count(Dims{n}));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i == 0 ? start : values[i - 1] + delta;  // stays before limit
  c.set(0, Tensor::from_i64(dtype, {n}, values));
}

const OpDef kRange = {.name = "range",
                      .onnx = "Range",
                      .doc = "y[i] = start + i * delta, i < max(ceil((limit - start) / delta), 0)",
                      .types = "Tfi T T",
                      .min_inputs = 3,
                      .max_inputs = 3,
                      .infer = infer_range,
                      .reference = range_reference};
const RegisterOp kRegisterRange(kRange);

}  // namespace
}  // namespace trine
