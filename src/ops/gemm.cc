// Gemm and com.microsoft's FusedGemm: y = activation(alpha * op(a) @ op(b) + beta * c).
#include <cmath>

#include "ops/activation.h"
#include "ops/broadcast.h"
#include "ops/matmul.h"
#include "ops/node_error.h"

namespace trine {
namespace {

MatmulShape gemm_shape(const Node& node, const Shape& a, const Shape& b) {
  require(node, a.rank() == 2 && b.rank() == 2,
          fmt::format("a is [{}], b is [{}]; want two matrices", a.text(), b.text()));
  return MatmulShape::of(node, a, b, node.attrs.integer("transA") != 0, node.attrs.integer("transB") != 0);
}

void gemm_infer(InferContext& c) {
  c.need_rank(0, 2);
  c.need_rank(1, 2);
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.set(0, c.dtype(0), c.fresh_shape(2));
  const Shape out = gemm_shape(c.node(), c.shape(0), c.shape(1)).out();
  if (c.shape(2).has_rank()) broadcast(c.shape(2), out);
  c.set(0, c.dtype(0), out);
}

bool is_small_whole(double v) { return std::abs(v) < 1e9 && v == std::trunc(v); }

// alpha * ab + beta * c with c broadcast to y's shape.
template <class T>
void combine(std::vector<T>& y, const Dims& dims, T alpha, T beta, const Tensor* c, const std::vector<T>& cv) {
  for (T& v : y) v *= alpha;
  if (!c || beta == T(0)) return;
  for (Walk w(dims, {broadcast_strides(c->dims(), dims)}); !w.done(); w.next())
    y[static_cast<size_t>(w.position())] += beta * cv[static_cast<size_t>(w.offset(0))];
}

void gemm_reference(EvalContext& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  const Tensor* bias = c.has(2) ? &c.tensor(2) : nullptr;
  const MatmulShape s = gemm_shape(c.node(), Shape::from(a.dims()), Shape::from(b.dims()));
  const Dims out = s.out().static_dims();
  const bool trans_a = c.attrs().integer("transA") != 0, trans_b = c.attrs().integer("transB") != 0;
  const double alpha = c.attrs().real("alpha", 1), beta = c.attrs().real("beta", 1);
  if (!is_float(a.dtype()) && is_small_whole(alpha) && is_small_whole(beta)) {  // exact, wrapping
    const std::vector<int64_t> y = matmul(s, a.i64_values(), b.i64_values(), trans_a, trans_b);
    std::vector<uint64_t> sum(y.begin(), y.end()), cv;
    if (bias) {
      const std::vector<int64_t> values = bias->i64_values();
      cv.assign(values.begin(), values.end());
    }
    combine(sum, out, static_cast<uint64_t>(static_cast<int64_t>(alpha)),
            static_cast<uint64_t>(static_cast<int64_t>(beta)), bias, cv);
    return c.set(0, Tensor::from_i64(a.dtype(), out, {sum.begin(), sum.end()}));
  }
  std::vector<double> y = matmul(s, a.f64_values(), b.f64_values(), trans_a, trans_b);
  combine(y, out, alpha, beta, bias, bias ? bias->f64_values() : std::vector<double>{});
  apply_epilogue(c.node(), y, out, nullptr);
  c.set(0, Tensor::from_f64(a.dtype(), out, y));
}

const OpDef op_gemm = {
    .name = "gemm",
    .onnx = "Gemm",
    .doc = "y = alpha * op(a) @ op(b) + beta * c; transA, transB; c broadcasts to y",
    .types = "Tfi T T",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = gemm_infer,
    .reference = gemm_reference,
};
const RegisterOp register_gemm(op_gemm);

const OpDef op_fused_gemm = {
    .name = "fused_gemm",
    .onnx = "com.microsoft:FusedGemm",
    .doc = "gemm followed by `activation`",
    .types = "Tfi T T",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = gemm_infer,
    .reference = gemm_reference,
};
const RegisterOp register_fused_gemm(op_fused_gemm);

}  // namespace
}  // namespace trine
