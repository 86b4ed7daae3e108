// Col2Im: adds the columns of x [N, C * block, L] back to where blocks of an image [N, C, D...] were taken from; the
// adjoint of im2col. L runs over block positions, row-major.
#include "ops/movement.h"
#include "ops/node_error.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

// Attributes per image axis, defaults filled in.
struct Blocks {
  Dims image, block, dilations, strides, pads;  // pads: begins, then ends

  Blocks(const EvalContext& c) : image(c.tensor(1).i64_values()), block(c.tensor(2).i64_values()) {
    const size_t n = image.size();
    dilations = c.attrs().integers("dilations", Dims(n, 1));
    strides = c.attrs().integers("strides", Dims(n, 1));
    pads = c.attrs().integers("pads", Dims(2 * n, 0));
    if (n == 0 || block.size() != n || dilations.size() != n || strides.size() != n || pads.size() != 2 * n)
      c.fail("image_shape has " + std::to_string(n) +
             " axes; block_shape, dilations and strides need as many, pads twice");
    for (size_t k = 0; k < n; ++k)
      if (image[k] < 0 || block[k] < 1 || dilations[k] < 1 || strides[k] < 1)
        c.fail("block_shape, dilations and strides must be >= 1, image_shape >= 0");
  }

  // Block positions along each axis.
  Dims positions() const {
    Dims result;
    for (size_t k = 0; k < image.size(); ++k) {
      const int64_t room = checked_add(checked_add(image[k], pads[k]), pads[k + image.size()]);
      const int64_t reach = checked_add(checked_mul(dilations[k], block[k] - 1), 1);
      result.push_back(room < reach ? 0 : (room - reach) / strides[k] + 1);
    }
    return result;
  }
};

void infer_col2im(InferContext& c) {
  c.need_rank(0, 3);
  c.need_rank(1, 1);
  const auto image = c.content(1), block = c.content(2);
  const auto axes = image ? std::optional(static_cast<int64_t>(image->size())) : known_length(c, 1);
  if (!axes || *axes > kMaxRank - 2) return c.set(0, c.dtype(0), Shape());
  Dim size = 1;
  if (block)
    for (const Dim& b : *block) size = size * b;
  if (block && size.constant() && size.value() <= 0) c.fail("block_shape holds a size < 1");
  const bool known = c.shape(0).has_rank() && block;
  std::vector<Dim> dims{c.shape(0).has_rank() ? c.shape(0)[0] : c.fresh(),
                        known ? floor_div(c.shape(0)[1], size) : c.fresh()};
  for (int64_t k = 0; k < *axes; ++k) dims.push_back(image ? (*image)[static_cast<size_t>(k)] : c.fresh("image"));
  c.set(0, c.dtype(0), Shape(std::move(dims)));
}

void col2im_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Blocks b(c);
  int64_t block = 1;
  for (int64_t n : b.block) block = checked_mul(block, n);
  const Dims positions = b.positions();
  const int64_t length = element_count(positions);
  if (x.rank() != 3 || x.dim(1) % block != 0 || x.dim(2) != length)
    c.fail("x is " + x.type_text() + "; want [N, multiple of " + std::to_string(block) + ", " + std::to_string(length) +
           "]");
  const int64_t planes = checked_mul(x.dim(0), x.dim(1) / block);
  const auto values = x.f64_values();
  Dims dims{x.dim(0), x.dim(1) / block};
  dims.insert(dims.end(), b.image.begin(), b.image.end());
  std::vector<double> y(value_count(dims));
  if (x.elements() == 0 || y.empty()) return c.set(0, Tensor::from_f64(x.dtype(), dims, y));
  const auto strides = dense_strides(b.image);
  const int64_t plane_size = element_count(b.image);
  std::vector<int64_t> in_block(b.block.size(), 0);
  for (int64_t e = 0; e < block; ++e, next_index(in_block, b.block)) {
    std::vector<int64_t> at(positions.size(), 0);
    for (int64_t l = 0; l < length; ++l, next_index(at, positions)) {
      int64_t to = 0;
      bool inside = true;
      for (size_t k = 0; k < at.size(); ++k) {
        const int64_t i = at[k] * b.strides[k] - b.pads[k] + in_block[k] * b.dilations[k];
        inside = inside && i >= 0 && i < b.image[k];
        to += i * strides[k];
      }
      for (int64_t p = 0; inside && p < planes; ++p)
        y[static_cast<size_t>(p * plane_size + to)] += values[static_cast<size_t>((p * block + e) * length + l)];
    }
  }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef kCol2Im = {.name = "col2im",
                       .onnx = "Col2Im",
                       .doc = "sum of sliding blocks put back into an image",
                       .types = "a x x",
                       .min_inputs = 3,
                       .max_inputs = 3,
                       .infer = infer_col2im,
                       .reference = col2im_reference};
const RegisterOp kRegisterCol2Im(kCol2Im);

}  // namespace
}  // namespace trine
