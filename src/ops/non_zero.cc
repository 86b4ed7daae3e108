// NonZero: coordinates of the elements that are not zero, [rank, n]. Compress: the slices of x where a condition holds.
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

// Per element: is it unlike zero (or the empty string)?
std::vector<bool> truth_values(const Tensor& x) {
  std::vector<bool> result;
  if (x.dtype() == DType::string) {
    for (const std::string& s : x.strings()) result.push_back(!s.empty());
  } else if (x.dtype() == DType::c64) {
    for (int64_t i = 0; i < x.elements(); ++i) result.push_back(x.as<std::complex<float>>()[i] != 0.0f);
  } else if (x.dtype() == DType::c128) {
    for (int64_t i = 0; i < x.elements(); ++i) result.push_back(x.as<std::complex<double>>()[i] != 0.0);
  } else if (is_float(x.dtype())) {
    for (double v : x.f64_values()) result.push_back(v != 0);
  } else {
    for (int64_t v : x.i64_values()) result.push_back(v != 0);
  }
  return result;
}

void infer_non_zero(InferContext& c) {
  const Shape& x = c.shape(0);
  c.set(0, DType::i64, {x.has_rank() ? Dim(x.rank()) : c.fresh("rank"), c.fresh("nonzero")});
}

void non_zero_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto truth = truth_values(x);
  std::vector<std::vector<int64_t>> found(static_cast<size_t>(x.rank()));
  std::vector<int64_t> index(static_cast<size_t>(x.rank()), 0);
  int64_t count = 0;
  for (size_t i = 0; i < truth.size(); ++i, next_index(index, x.dims())) {
    if (!truth[i]) continue;
    ++count;
    for (size_t k = 0; k < index.size(); ++k) found[k].push_back(index[k]);
  }
  std::vector<int64_t> values;
  for (const auto& row : found) values.insert(values.end(), row.begin(), row.end());
  c.set(0, Tensor::from_i64(DType::i64, {x.rank(), count}, values));
}

const OpDef kNonZero = {.name = "non_zero",
                        .onnx = "NonZero",
                        .doc = "y[:, j] = coordinates of the j-th element that is not zero",
                        .types = "a",
                        .infer = infer_non_zero,
                        .reference = non_zero_reference};
const RegisterOp kRegisterNonZero(kNonZero);

void infer_compress(InferContext& c) {
  c.need_rank(1, 1);
  const Shape& x = c.shape(0);
  if (!c.attrs().has("axis")) return c.set(0, c.dtype(0), {c.fresh("compress")});
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  Shape y = x;
  y[c.axis(c.attrs().integer("axis"), x.rank())] = c.fresh("compress");
  c.set(0, c.dtype(0), y);
}

void compress_reference(EvalContext& c) {
  const Tensor& given = c.tensor(0);
  const bool flat = !c.attrs().has("axis");
  const Tensor x = flat ? given.reshaped({given.elements()}) : given;
  const int axis = flat ? 0 : c.axis(c.attrs().integer("axis"), x.rank());
  const auto condition = c.tensor(1).i64_values();
  if (static_cast<int64_t>(condition.size()) > x.dim(axis))
    c.fail("condition has " + std::to_string(condition.size()) + " entries, axis " + std::to_string(axis) + " of " +
           x.type_text() + " fewer");
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i]) kept.push_back(static_cast<int64_t>(i));
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(kept.size());
  TensorBuilder y(x.dtype(), dims);
  const View to = View::whole(dims), from = View::whole(x.dims());
  for (size_t i = 0; i < kept.size(); ++i)
    y.copy(to.range(axis, static_cast<int64_t>(i), 1), x, from.range(axis, kept[i], 1));
  c.set(0, y.take());
}

const OpDef kCompress = {.name = "compress",
                         .onnx = "Compress",
                         .doc = "the slices of x along `axis` (or elements of flat x) where the condition holds",
                         .types = "a b",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .infer = infer_compress,
                         .reference = compress_reference};
const RegisterOp kRegisterCompress(kCompress);

}  // namespace
}  // namespace trine
