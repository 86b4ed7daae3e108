// com.microsoft:MatMulNBits: y = a @ dequantize(b)^T + bias with b in blocks of 2, 4 or 8 bits along K. (onnxruntime
// leaves the zero points out where there is a g_idx; here they count.)
//   b       u8 [N, blocks, block_size*bits/8], lowest bits first, blocks = ceil(K / block_size)
//   scales  [N * blocks];  zero_points  packed u8 [N * ceil(blocks*bits/8)], or one of a's type each; default
//   2^(bits-1) g_idx   [K] block of each k;  default k / block_size
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/matmul.h"
#include "ops/node_error.h"

namespace trine {
namespace {

struct NBits {
  int64_t k, n, bits, block, blocks;
  int64_t packed_row() const { return (block * bits + 7) / 8; }
  int64_t packed_zeros() const { return (blocks * bits + 7) / 8; }
};

NBits nbits_of(const Node& node) {
  NBits q{node.attrs.integer("K"), node.attrs.integer("N"), node.attrs.integer("bits", 4),
          node.attrs.integer("block_size"), 0};
  require(node, q.k >= 1 && q.n >= 1 && q.k <= kMaxElements, "K and N must be positive");
  require(node, q.bits == 2 || q.bits == 4 || q.bits == 8, fmt::format("bits is {}; want 2, 4 or 8", q.bits));
  require(node, q.block >= 16 && q.block <= INT32_MAX && (q.block & (q.block - 1)) == 0,
          fmt::format("block_size is {}; want a power of two from 16 on", q.block));
  q.blocks = (q.k + q.block - 1) / q.block;
  element_count(Dims{q.n, q.blocks, q.packed_row()});  // throws when b could not exist
  element_count(Dims{q.k, q.n});
  return q;
}

Shape weight_shape(const NBits& q) { return Shape{q.k, q.n}; }

void matmul_nbits_infer(InferContext& c) {
  const NBits q = nbits_of(c.node());
  c.set(0, c.dtype(0), c.shape(0).has_rank() ? MatmulShape::of(c.node(), c.shape(0), weight_shape(q)).out() : Shape());
}

void need_elements(const Node& node, const Tensor& t, int64_t count, std::string_view what) {
  require(node, t.elements() == count, fmt::format("{} is {}; want {} elements", what, t.type_text(), count));
}

int64_t unpack(const std::vector<int64_t>& bytes, int64_t row, int64_t i, int64_t bits) {
  const int64_t bit = i * bits;
  return bytes[static_cast<size_t>(row + bit / 8)] >> (bit % 8) & ((1 << bits) - 1);
}

// Zero point of every block, [N, blocks].
std::vector<double> zero_points(EvalContext& c, const NBits& q) {
  std::vector<double> zeros(static_cast<size_t>(q.n * q.blocks), static_cast<double>(1 << (q.bits - 1)));
  if (!c.has(3)) return zeros;
  const Tensor& t = c.tensor(3);
  if (t.dtype() != DType::u8) {
    need_elements(c.node(), t, q.n * q.blocks, "zero_points");
    return t.f64_values();
  }
  need_elements(c.node(), t, q.n * q.packed_zeros(), "zero_points");
  const std::vector<int64_t> bytes = t.i64_values();
  for (int64_t n = 0; n < q.n; ++n)
    for (int64_t b = 0; b < q.blocks; ++b)
      zeros[static_cast<size_t>(n * q.blocks + b)] =
          static_cast<double>(unpack(bytes, n * q.packed_zeros(), b, q.bits));
  return zeros;
}

// Weight [K, N] in f64.
std::vector<double> dequantized(EvalContext& c, const NBits& q) {
  need_elements(c.node(), c.tensor(1), q.n * q.blocks * q.packed_row(), "B");
  need_elements(c.node(), c.tensor(2), q.n * q.blocks, "scales");
  const std::vector<int64_t> bytes = c.tensor(1).i64_values();
  const std::vector<double> scales = c.tensor(2).f64_values(), zeros = zero_points(c, q);
  std::vector<int64_t> group;
  if (c.has(4)) {
    group = c.tensor(4).i64_values();
    require(c.node(), static_cast<int64_t>(group.size()) >= q.k,
            fmt::format("g_idx is {}; want {} elements", c.tensor(4).type_text(), q.k));
  }
  std::vector<double> w(static_cast<size_t>(q.k * q.n));
  for (int64_t n = 0; n < q.n; ++n)
    for (int64_t k = 0; k < q.k; ++k) {
      const int64_t stored = unpack(bytes, (n * q.blocks + k / q.block) * q.packed_row(), k % q.block, q.bits);
      const int64_t b = group.empty() ? k / q.block : c.checked_index(group[static_cast<size_t>(k)], q.blocks, "g_idx");
      const size_t at = static_cast<size_t>(n * q.blocks + b);
      w[static_cast<size_t>(k * q.n + n)] = (static_cast<double>(stored) - zeros[at]) * scales[at];
    }
  return w;
}

void matmul_nbits_reference(EvalContext& c) {
  const NBits q = nbits_of(c.node());
  const Tensor& a = c.tensor(0);
  const MatmulShape s = MatmulShape::of(c.node(), Shape::from(a.dims()), weight_shape(q));
  std::vector<double> y = matmul(s, a.f64_values(), dequantized(c, q));
  if (c.has(5)) {
    need_elements(c.node(), c.tensor(5), q.n, "bias");
    const std::vector<double> bias = c.tensor(5).f64_values();
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  }
  c.set(0, Tensor::from_f64(a.dtype(), s.out().static_dims(), y));
}

const OpDef op_matmul_nbits = {
    .name = "matmul_nbits",
    .onnx = "com.microsoft:MatMulNBits",
    .doc = "y = a @ dequantize(b)^T + bias, b in blocks of 2, 4 or 8 bits along K",
    .types = "Tf i T fi x T",
    .min_inputs = 3,
    .max_inputs = 6,
    .infer = matmul_nbits_infer,
    .reference = matmul_nbits_reference,
};
const RegisterOp register_matmul_nbits(op_matmul_nbits);

}  // namespace
}  // namespace trine
