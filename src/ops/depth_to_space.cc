// DepthToSpace moves channels into b x b blocks of pixels, SpaceToDepth back. DCR: the channel of a block is
// (row * b + column) * depth + d; CRD: d * b * b + row * b + column.
#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

template <class C>
bool depth_first(const C& c) {
  const std::string mode = c.attrs().string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") c.fail("mode '" + mode + "'; one of DCR, CRD");
  return mode == "DCR";
}

template <class C>
int64_t block_size(const C& c) {
  const int64_t b = c.attrs().integer("blocksize");
  if (b < 1 || b > (1 << 20)) c.fail("blocksize is " + std::to_string(b) + "; it must be >= 1");
  return b;
}

void need_multiple(const InferContext& c, const Dim& size, int64_t of, std::string_view what) {
  if (size.constant() && size.value() % of != 0)
    c.fail(std::string(what) + " of " + c.input(0).text() + " is no multiple of " + std::to_string(of));
}

void infer_depth_to_space(InferContext& c) {
  c.need_rank(0, 4);
  const int64_t b = block_size(c);
  depth_first(c);
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), c.fresh_shape(4));
  need_multiple(c, x[1], b * b, "depth");
  c.set(0, c.dtype(0), {x[0], floor_div(x[1], b * b), x[2] * b, x[3] * b});
}

// The four dimensions and the block positions (row, column) as strides into the deep tensor: {n, d, h, w, row, column}.
struct Deep {
  int64_t n, d, h, w, b;
  std::vector<int64_t> strides;

  Deep(int64_t n, int64_t d, int64_t h, int64_t w, int64_t b, bool dcr) : n(n), d(d), h(h), w(w), b(b) {
    const int64_t plane = h * w;
    const int64_t depth = dcr ? plane : b * b * plane, column = dcr ? d * plane : plane;
    strides = {d * b * b * plane, depth, w, 1, b * column, column};
  }
  // In the order of the wide tensor [n, d, h, row, w, column].
  View view() const {
    return {{n, d, h, b, w, b}, {strides[0], strides[1], strides[2], strides[4], strides[3], strides[5]}, 0};
  }
};

void depth_to_space_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int64_t b = block_size(c);
  if (x.rank() != 4 || x.dim(1) % (b * b) != 0)
    c.fail("x is " + x.type_text() + "; it must be [N,C,H,W] with C a multiple of " + std::to_string(b * b));
  const Deep deep(x.dim(0), x.dim(1) / (b * b), x.dim(2), x.dim(3), b, depth_first(c));
  c.set(0, copy_view(x, deep.view()).reshaped({deep.n, deep.d, checked_mul(deep.h, b), checked_mul(deep.w, b)}));
}

codegen::Scalar depth_to_space_lower(codegen::LowerContext& c) {
  const int64_t b = c.attrs().integer("blocksize");
  const auto& i = c.index();
  const Dim row = mod(i[2], b), column = mod(i[3], b), depth = c.output_type().shape[1];
  const Dim channel =
      c.attrs().string("mode", "DCR") == "DCR" ? (row * b + column) * depth + i[1] : (i[1] * b + row) * b + column;
  return c.load(0, {i[0], channel, floor_div(i[2], b), floor_div(i[3], b)});
}

const OpDef kDepthToSpace = {.name = "depth_to_space",
                             .onnx = "DepthToSpace",
                             .doc = "[N,C,H,W] -> [N,C/b^2,H*b,W*b]",
                             .types = "a",
                             .infer = infer_depth_to_space,
                             .reference = depth_to_space_reference,
                             .lower = depth_to_space_lower};
const RegisterOp kRegisterDepthToSpace(kDepthToSpace);

void infer_space_to_depth(InferContext& c) {
  c.need_rank(0, 4);
  const int64_t b = block_size(c);
  depth_first(c);
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), c.fresh_shape(4));
  need_multiple(c, x[2], b, "height");
  need_multiple(c, x[3], b, "width");
  c.set(0, c.dtype(0), {x[0], x[1] * Dim(b * b), floor_div(x[2], b), floor_div(x[3], b)});
}

void space_to_depth_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int64_t b = block_size(c);
  if (x.rank() != 4 || x.dim(2) % b != 0 || x.dim(3) % b != 0)
    c.fail("x is " + x.type_text() + "; it must be [N,C,H,W] with H and W multiples of " + std::to_string(b));
  const Deep deep(x.dim(0), x.dim(1), x.dim(2) / b, x.dim(3) / b, b, depth_first(c));
  TensorBuilder y(x.dtype(), {deep.n, checked_mul(deep.d, b * b), deep.h, deep.w});
  const View to = deep.view();
  y.copy(to, x, View::whole(to.dims));
  c.set(0, y.take());
}

codegen::Scalar space_to_depth_lower(codegen::LowerContext& c) {
  const int64_t b = c.attrs().integer("blocksize");
  const auto& i = c.index();
  const Dim depth = c.shape(0)[1];
  const bool dcr = c.attrs().string("mode", "DCR") == "DCR";
  const Dim channel = dcr ? mod(i[1], depth) : floor_div(i[1], b * b);
  const Dim block = dcr ? floor_div(i[1], depth) : mod(i[1], b * b);
  return c.load(0, {i[0], channel, i[2] * b + floor_div(block, b), i[3] * b + mod(block, b)});
}

const OpDef kSpaceToDepth = {.name = "space_to_depth",
                             .onnx = "SpaceToDepth",
                             .doc = "[N,C,H,W] -> [N,C*b^2,H/b,W/b]",
                             .types = "a",
                             .infer = infer_space_to_depth,
                             .reference = space_to_depth_reference,
                             .lower = space_to_depth_lower};
const RegisterOp kRegisterSpaceToDepth(kSpaceToDepth);

}  // namespace
}  // namespace trine
