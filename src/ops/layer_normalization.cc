// Normalisation over the trailing dimensions, and its variants as rows:
//
//   x' = x (+ skip) (+ bias);  y = (x' - mean) / sqrt(variance + epsilon) * scale (+ beta)
//
// RMS ("simplified") forms take the mean as 0. Statistics are f32 whatever the type of x (stash_type), so f16 inputs do
// not overflow. Sources: Ba et al. 2016, Zhang & Sennrich 2019.
#include <cmath>

#include "ops/norm.h"
#include "ops/rows.h"
#include "ops/types.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Scalar;

struct NormRow {
  std::string_view name, onnx, doc;
  const char* types;
  bool centred;
  float epsilon;
  // Input and output positions; -1: there is none.
  int skip, scale, beta, bias;
  int mean, inverse, sum;
  int min_inputs, max_inputs, max_outputs;
  bool typed_by_scale = false;  // y has the type of scale instead of x's

  OpDef describe() const {
    return {.name = name,
            .onnx = onnx,
            .doc = doc,
            .types = types,
            .min_inputs = min_inputs,
            .max_inputs = max_inputs,
            .max_outputs = max_outputs};
  }
  void infer(InferContext& c) const;
  void reference(EvalContext& c) const;
  Scalar lower(LowerContext& c) const;

 private:
  std::vector<double> summed(EvalContext& c) const;
  Scalar element(LowerContext& c, const Index& at) const;
};

DType statistics_type(const Attrs& attrs) { return attrs.dtype("stash_type", DType::f32); }

void NormRow::infer(InferContext& c) const {
  c.set(0, c.dtype(typed_by_scale ? scale : 0), c.shape(0));
  if (sum >= 0) c.set(sum, c.dtype(0), c.shape(0));
  Shape statistics;
  if (const Shape& shape = c.shape(0); shape.has_rank()) {
    const int axis = c.axis(c.attrs().integer("axis", -1), shape.rank());
    statistics = reduced_shape(shape, axes_from(shape.rank(), axis), true);
    for (int i : {skip, scale, beta, bias})
      if (i >= 0 && c.has(i) && broadcast(shape, c.shape(i)) != shape && c.shape(i).is_static() && shape.is_static())
        c.fail("input " + std::to_string(i) + " is " + c.input(i).text() + "; it must broadcast to x " +
               c.input(0).text());
  }
  for (int i : {mean, inverse})
    if (i >= 0) c.set(i, statistics_type(c.attrs()), statistics);
}

// Adds (or multiplies by, as f does) a tensor broadcast to `dims`.
template <class F>
void combine(std::vector<double>& y, const Dims& dims, const Tensor& t, F f) {
  const std::vector<double> values = t.f64_values();
  for (Walk w(dims, {broadcast_strides(t.dims(), dims)}); !w.done(); w.next()) {
    double& v = y[static_cast<size_t>(w.position())];
    v = f(v, values[static_cast<size_t>(w.offset(0))]);
  }
}

double plus(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }

std::vector<double> NormRow::summed(EvalContext& c) const {
  std::vector<double> x = c.tensor(0).f64_values();
  for (int i : {skip, bias})
    if (i >= 0 && c.has(i)) combine(x, c.tensor(0).dims(), c.tensor(i), plus);
  return x;
}

void NormRow::reference(EvalContext& c) const {
  const Tensor& x = c.tensor(0);
  std::vector<double> y = summed(c);
  if (sum >= 0) c.set(sum, Tensor::from_f64(x.dtype(), x.dims(), y));
  const AxisMask folded = axes_from(x.rank(), c.axis(c.attrs().integer("axis", -1), x.rank()));
  const Grouping groups = group(x.dims(), folded);
  const double eps = c.attrs().real("epsilon", epsilon);
  std::vector<double> means, inverses;
  for (int64_t start : groups.starts) {
    const Moments m = moments(group_data(y, start), groups.steps, centred);
    means.push_back(m.mean);
    inverses.push_back(1 / std::sqrt(m.variance + eps));
    for (int64_t step : groups.steps) {
      double& v = y[static_cast<size_t>(start + step)];
      v = (v - m.mean) * inverses.back();
    }
  }
  combine(y, x.dims(), c.tensor(scale), times);
  if (beta >= 0 && c.has(beta)) combine(y, x.dims(), c.tensor(beta), plus);
  c.set(0, Tensor::from_f64(typed_by_scale ? c.tensor(scale).dtype() : x.dtype(), x.dims(), y));
  const Dims statistics = reduced_dims(x.dims(), folded, true);
  if (mean >= 0) c.set(mean, Tensor::from_f64(statistics_type(c.attrs()), statistics, means));
  if (inverse >= 0) c.set(inverse, Tensor::from_f64(statistics_type(c.attrs()), statistics, inverses));
}

// `at`, an index of x, mapped onto a shape that broadcasts to x.
Index broadcast_to(const Shape& shape, const Index& at) {
  Index out;
  const size_t shift = at.size() - static_cast<size_t>(shape.rank());
  for (int d = 0; d < shape.rank(); ++d)
    out.push_back(shape[d] == Dim(1) ? Dim(0) : at[shift + static_cast<size_t>(d)]);
  return out;
}

Scalar NormRow::element(LowerContext& c, const Index& at) const {
  Scalar x = c.load(0, at);
  for (int i : {skip, bias})
    if (i >= 0 && c.has(i)) x = c.add(x, c.load(i, broadcast_to(c.shape(i), at)));
  return x;
}

Scalar NormRow::lower(LowerContext& c) const {
  const Shape& shape = c.shape(0);
  for (int i : {0, skip, scale, beta, bias})
    if (i >= 0 && c.has(i) && !c.shape(i).has_rank()) return {};
  if (sum >= 0 && c.output() == sum) return element(c, c.index());
  const int64_t given = c.attrs().integer("axis", -1);
  const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
  const FoldedBox box(shape, axes_from(shape.rank(), axis), true);
  const Index here = c.index();
  const LoweredMoments m = lower_moments(c, box, [&](const Index& r) { return element(c, box.at(here, r)); }, centred);
  if (c.output() == mean) return centred ? m.mean : c.like(m.variance, 0);
  const Scalar inverse_deviation = lower_inverse_deviation(c, m.variance, c.attrs().real("epsilon", epsilon));
  if (c.output() == inverse) return inverse_deviation;
  Scalar y = element(c, here);
  if (centred) y = c.sub(y, m.mean);
  const auto parameter = [&](int i) { return c.cast(c.load(i), c.type(y)); };
  y = c.mul(c.mul(y, inverse_deviation), parameter(scale));
  return beta >= 0 && c.has(beta) ? c.add(y, parameter(beta)) : y;
}

constexpr NormRow kNorms[] = {
    // name, onnx, doc, types; centred, epsilon; skip, scale, beta, bias; mean, inverse, sum; inputs, outputs
    {"layer_normalization", "LayerNormalization", "(x - mean) / deviation * scale + bias over the trailing dimensions",
     "Tf T T", true, 1e-5f, -1, 1, 2, -1, 1, 2, -1, 2, 3, 3},
    {"rms_normalization", "RMSNormalization", "x / root mean square * scale over the trailing dimensions", "f f", false,
     1e-5f, -1, 1, -1, -1, -1, -1, -1, 2, 2, 1, true},
    {"simplified_layer_normalization", "SimplifiedLayerNormalization", "rms_normalization, with 1 / rms as output 1",
     "f f", false, 1e-5f, -1, 1, -1, -1, -1, 1, -1, 2, 2, 2, true},
    {"skip_layer_normalization", "com.microsoft:SkipLayerNormalization", "layer_normalization of x + skip + bias",
     "Tf T T T T", true, 1e-12f, 1, 2, 3, 4, 1, 2, 3, 3, 5, 4},
    {"skip_simplified_layer_normalization", "com.microsoft:SkipSimplifiedLayerNormalization",
     "rms_normalization of x + skip + bias", "Tf T T T", false, 1e-12f, 1, 2, -1, 3, 1, 2, 3, 3, 4, 4},
};

[[maybe_unused]] const bool kRegistered = register_rows<kNorms>();

}  // namespace
}  // namespace trine
