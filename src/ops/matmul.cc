// MatMul, the internal fused_matmul and com.microsoft's FusedMatMul.
#include "ops/matmul.h"

#include "ops/activation.h"
#include "ops/broadcast.h"
#include "ops/node_error.h"

namespace trine {
namespace {

Shape batch_of(const Shape& s, size_t matrix_dims) {
  return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - static_cast<std::ptrdiff_t>(matrix_dims)));
}

}  // namespace

MatmulShape MatmulShape::of(const Node& node, const Shape& a, const Shape& b, bool trans_a, bool trans_b) {
  require(node, a.rank() >= 1 && b.rank() >= 1,
          fmt::format("operands [{}] and [{}]; a scalar has no matrix product", a.text(), b.text()));
  MatmulShape s;
  s.keep_m = a.rank() > 1;
  s.keep_n = b.rank() > 1;
  const int ar = a.rank(), br = b.rank();
  trans_a = trans_a && s.keep_m;
  trans_b = trans_b && s.keep_n;
  s.m = s.keep_m ? a[trans_a ? ar - 1 : ar - 2] : Dim(1);
  s.k = s.keep_m ? a[trans_a ? ar - 2 : ar - 1] : a[0];
  const Dim& bk = s.keep_n ? b[trans_b ? br - 1 : br - 2] : b[0];
  s.n = s.keep_n ? b[trans_b ? br - 2 : br - 1] : Dim(1);
  require(node, !s.k.is_constant() || !bk.is_constant() || s.k == bk,
          fmt::format("[{}] times [{}]{}: the inner dimensions are {} and {}", a.text(), b.text(),
                      trans_a || trans_b ? " (transposed as asked)" : "", s.k.text(), bk.text()));
  if (!s.k.is_constant()) s.k = bk;
  s.a_batch = batch_of(a, s.keep_m ? 2 : 1);
  s.b_batch = batch_of(b, s.keep_n ? 2 : 1);
  s.batch = broadcast(s.a_batch, s.b_batch);
  return s;
}

Shape MatmulShape::out() const {
  std::vector<Dim> dims = batch.dims();
  if (keep_m) dims.push_back(m);
  if (keep_n) dims.push_back(n);
  return Shape(std::move(dims));
}

namespace {

double multiply_add(double sum, double a, double b) { return sum + a * b; }
int64_t multiply_add(int64_t sum, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
std::vector<T> matmul_any(const MatmulShape& s, const std::vector<T>& a, const std::vector<T>& b, bool trans_a,
                          bool trans_b) {
  const int64_t m = s.m.value(), k = s.k.value(), n = s.n.value();
  trans_a = trans_a && s.keep_m;
  trans_b = trans_b && s.keep_n;
  const int64_t a_row = trans_a ? 1 : k, a_step = trans_a ? m : 1, b_col = trans_b ? k : 1, b_step = trans_b ? 1 : n;
  const Dims batch = s.batch.static_dims();
  std::vector<T> y(value_count(s.out().static_dims()), T(0));
  Walk walk(batch,
            {broadcast_strides(s.a_batch.static_dims(), batch), broadcast_strides(s.b_batch.static_dims(), batch)});
  for (; !walk.done(); walk.next()) {
    const T* ap = a.data() + walk.offset(0) * m * k;
    const T* bp = b.data() + walk.offset(1) * k * n;
    T* yp = y.data() + walk.position() * m * n;
    for (int64_t i = 0; i < m; ++i, yp += n)
      for (int64_t p = 0; p < k; ++p) {
        const T v = ap[i * a_row + p * a_step];
        for (int64_t j = 0; j < n; ++j) yp[j] = multiply_add(yp[j], v, bp[p * b_step + j * b_col]);
      }
  }
  return y;
}

}  // namespace

std::vector<double> matmul(const MatmulShape& s, const std::vector<double>& a, const std::vector<double>& b,
                           bool trans_a, bool trans_b) {
  return matmul_any(s, a, b, trans_a, trans_b);
}

std::vector<int64_t> matmul(const MatmulShape& s, const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                            bool trans_a, bool trans_b) {
  return matmul_any(s, a, b, trans_a, trans_b);
}

namespace {

void matmul_infer(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.set(0, c.dtype(0), Shape());
  c.set(0, c.dtype(0), MatmulShape::of(c.node(), c.shape(0), c.shape(1)).out());
}

void matmul_reference(EvalContext& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  const MatmulShape s = MatmulShape::of(c.node(), Shape::from(a.dims()), Shape::from(b.dims()));
  const Dims out = s.out().static_dims();
  if (is_float(a.dtype())) c.set(0, Tensor::from_f64(a.dtype(), out, matmul(s, a.f64_values(), b.f64_values())));
  else c.set(0, Tensor::from_i64(a.dtype(), out, matmul(s, a.i64_values(), b.i64_values())));
}

const OpDef op_matmul = {
    .name = "matmul",
    .onnx = "MatMul",
    .doc = "numpy.matmul(a, b)",
    .types = "Tfi T",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = matmul_infer,
    .reference = matmul_reference,
};
const RegisterOp register_matmul(op_matmul);

// y = activation(alpha * op(a) @ op(b) + bias + residual); bias broadcasts to y, residual has y's shape.
void fused_matmul_infer(InferContext& c) {
  const DType out = c.attrs().dtype("out", c.dtype(0));
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.set(0, out, Shape());
  const bool trans_a = c.attrs().integer("trans_a") != 0, trans_b = c.attrs().integer("trans_b") != 0;
  c.set(0, out, MatmulShape::of(c.node(), c.shape(0), c.shape(1), trans_a, trans_b).out());
}

void add_bias(std::vector<double>& y, const Dims& dims, const Tensor& bias) {
  const std::vector<double> values = bias.f64_values();
  for (Walk w(dims, {broadcast_strides(bias.dims(), dims)}); !w.done(); w.next())
    y[static_cast<size_t>(w.position())] += values[static_cast<size_t>(w.offset(0))];
}

void fused_matmul_reference(EvalContext& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  const bool trans_a = c.attrs().integer("trans_a") != 0, trans_b = c.attrs().integer("trans_b") != 0;
  const MatmulShape s = MatmulShape::of(c.node(), Shape::from(a.dims()), Shape::from(b.dims()), trans_a, trans_b);
  std::vector<double> y = matmul(s, a.f64_values(), b.f64_values(), trans_a, trans_b);
  const double alpha = c.attrs().real("alpha", 1);
  for (double& v : y) v *= alpha;
  const Dims out = s.out().static_dims();
  if (c.has(2)) add_bias(y, out, c.tensor(2));
  apply_epilogue(c.node(), y, out, c.has(3) ? &c.tensor(3) : nullptr);
  c.set(0, Tensor::from_f64(c.attrs().dtype("out", a.dtype()), out, y));
}

const OpDef op_fused_matmul = {
    .name = "fused_matmul",
    .doc =
        "y = activation(alpha * op(a) @ op(b) + bias + residual); trans_a, trans_b; out: the type of y when it is not "
        "a's",
    .types = "Tf T Tw Tw",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = fused_matmul_infer,
    .reference = fused_matmul_reference,
};
const RegisterOp register_fused_matmul(op_fused_matmul);

// com.microsoft: transA/transB swap the last two dimensions; transBatchA/B first move dimension 0 of a tensor of rank
// r behind its other batch dimensions: [d0, d1, ..., M, K] -> [d1, ..., d0, M, K] with M in place of d0.
std::vector<int> batch_permutation(int rank) {
  // [x0, x1, ..., x(r-2), x(r-1)]: the matrix rows are dimension 0, the batch is 1 .. r-2
  std::vector<int> p;
  for (int i = 1; i < rank - 1; ++i) p.push_back(i);
  p.push_back(0);
  p.push_back(rank - 1);
  return p;
}

Shape permuted(const Shape& s, const std::vector<int>& p) {
  std::vector<Dim> dims;
  for (int i : p) dims.push_back(s[i]);
  return Shape(std::move(dims));
}

struct ContribOperand {
  Shape shape;
  std::vector<int> permutation;  // empty: as it is
  bool transpose;
};

ContribOperand operand_of(const Node& node, const Shape& s, std::string_view which) {
  ContribOperand o{s, {}, node.attrs.integer(fmt::format("trans{}", which)) != 0};
  if (node.attrs.integer(fmt::format("transBatch{}", which)) != 0 && s.rank() > 2) {
    o.permutation = batch_permutation(s.rank());
    o.shape = permuted(s, o.permutation);
  }
  return o;
}

std::vector<double> values_of(const Tensor& t, const ContribOperand& o) {
  const std::vector<double> from = t.f64_values();
  if (o.permutation.empty()) return from;
  const Strides dense = dense_strides(t.dims());
  Strides strides;
  for (int i : o.permutation) strides.push_back(dense[static_cast<size_t>(i)]);
  std::vector<double> to(from.size());
  for (Walk w(o.shape.static_dims(), {strides}); !w.done(); w.next())
    to[static_cast<size_t>(w.position())] = from[static_cast<size_t>(w.offset(0))];
  return to;
}

void contrib_infer(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.set(0, c.dtype(0), Shape());
  const ContribOperand a = operand_of(c.node(), c.shape(0), "A"), b = operand_of(c.node(), c.shape(1), "B");
  c.set(0, c.dtype(0), MatmulShape::of(c.node(), a.shape, b.shape, a.transpose, b.transpose).out());
}

void contrib_reference(EvalContext& c) {
  const ContribOperand a = operand_of(c.node(), Shape::from(c.tensor(0).dims()), "A");
  const ContribOperand b = operand_of(c.node(), Shape::from(c.tensor(1).dims()), "B");
  const MatmulShape s = MatmulShape::of(c.node(), a.shape, b.shape, a.transpose, b.transpose);
  std::vector<double> y = matmul(s, values_of(c.tensor(0), a), values_of(c.tensor(1), b), a.transpose, b.transpose);
  const double alpha = c.attrs().real("alpha", 1);
  for (double& v : y) v *= alpha;
  c.set(0, Tensor::from_f64(c.tensor(0).dtype(), s.out().static_dims(), y));
}

const OpDef op_contrib_fused_matmul = {
    .name = "contrib_fused_matmul",
    .onnx = "com.microsoft:FusedMatMul",
    .doc = "y = alpha * op(a) @ op(b); transA, transB, transBatchA, transBatchB",
    .types = "Tf T",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = contrib_infer,
    .reference = contrib_reference,
};
const RegisterOp register_contrib_fused_matmul(op_contrib_fused_matmul);

}  // namespace
}  // namespace trine
