#include "plan/divide.h"

#include <algorithm>

namespace trine {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

int64_t bytes_of(const Type& type) {
  return element_count(type.shape.static_dims()) * static_cast<int64_t>(byte_size(type.dtype));
}

int64_t pixels(const dnn::Extents& e) { return e[0] * e[1] * e[2]; }

// Bytes of all images of a tensor whose pixels are `stride` elements apart, 0: `channels`.
int64_t image_bytes(int64_t n, int64_t pixels, int64_t channels, int64_t stride, int64_t element) {
  return n * pixels * (stride ? stride : channels) * element;
}

// What one call's operands are to the division: in[0] and out[0] are cut, all else must be constant.
struct Roles {
  int64_t in_bytes = 0, out_bytes = 0;
  bool residual = false;  // cut like the output
};

bool divide_batch(int64_t& n, int64_t parts) {
  if (n % parts != 0) return false;
  n /= parts;
  return true;
}

std::optional<Roles> divide_conv(dnn::ConvProblem& p, int64_t parts) {
  const auto in = static_cast<int64_t>(byte_size(p.types.in)), out = static_cast<int64_t>(byte_size(p.types.out));
  Roles roles{image_bytes(p.n, pixels(p.in), p.in_channels, p.in_pixel_stride, in),
              image_bytes(p.n, pixels(p.out), p.out_channels, p.out_pixel_stride, out),
              p.epilogue.residual != dnn::Residual::none};
  return divide_batch(p.n, parts) ? std::optional(roles) : std::nullopt;
}

// Pools and resizes of f32.
template <class Problem>
std::optional<Roles> divide_image(Problem& p, int64_t parts) {
  Roles roles{image_bytes(p.n, pixels(p.in), p.channels, p.in_pixel_stride, 4),
              image_bytes(p.n, pixels(p.out), p.channels, p.out_pixel_stride, 4)};
  return divide_batch(p.n, parts) ? std::optional(roles) : std::nullopt;
}

std::optional<Roles> divide_matmul(dnn::MatmulProblem& p, int64_t parts) {
  if (!p.b_constant || p.trans_a || !p.b_batch.empty()) return std::nullopt;
  const int64_t rows = element_count(p.a_batch) * p.m;
  const auto in = static_cast<int64_t>(byte_size(p.types.in)), out = static_cast<int64_t>(byte_size(p.types.out));
  Roles roles{rows * p.k * in, rows * (p.out_row_stride ? p.out_row_stride : p.n) * out,
              p.epilogue.residual != dnn::Residual::none};
  int64_t& outer = p.a_batch.empty() ? p.m : p.a_batch[0];
  return divide_batch(outer, parts) ? std::optional(roles) : std::nullopt;
}

std::optional<Roles> divide_copy(dnn::CopyProblem& p, const KernelCall& call, int64_t parts) {
  if (p.dims.empty()) return std::nullopt;
  const int64_t in = p.in_strides[0] * p.element_bytes, out = p.out_strides[0] * p.element_bytes;
  const auto stays_within = [&](const Dims& strides, int64_t offset, int64_t step) {
    int64_t low = offset, high = offset;
    for (size_t i = 1; i < p.dims.size(); ++i)
      (strides[i] < 0 ? low : high) += (p.dims[i] - 1) * strides[i] * p.element_bytes;
    return low >= 0 && high < step;
  };
  if (!stays_within(p.in_strides, call.in_offset_bytes, in) || !stays_within(p.out_strides, call.out_offset_bytes, out))
    return std::nullopt;
  Roles roles{in * p.dims[0], out * p.dims[0]};
  return divide_batch(p.dims[0], parts) ? std::optional(roles) : std::nullopt;
}

std::optional<Roles> divide_problem(dnn::Problem& problem, const KernelCall& call, int64_t parts) {
  if (auto* p = std::get_if<dnn::ConvProblem>(&problem)) return divide_conv(*p, parts);
  if (auto* p = std::get_if<dnn::PoolProblem>(&problem)) return divide_image(*p, parts);
  if (auto* p = std::get_if<dnn::ResizeProblem>(&problem)) return divide_image(*p, parts);
  if (auto* p = std::get_if<dnn::MatmulProblem>(&problem)) return divide_matmul(*p, parts);
  if (auto* p = std::get_if<dnn::CopyProblem>(&problem)) return divide_copy(*p, call, parts);
  return std::nullopt;
}

// The roots of a node's operands, and whether one of them is a constant.
class Operands {
 public:
  Operands(const Segment& segment, const Call& call)
      : segment_(segment), node_(segment.typed.nodes[static_cast<size_t>(call.node)]) {}

  ValueId input(int i) const { return at(node_.inputs, i); }
  ValueId output(int i) const { return at(node_.outputs, i); }
  bool is_constant(ValueId root) const {
    return root == kNoValue || segment_.typed.value(root).constant.defined() || segment_.constants.contains(root);
  }

 private:
  ValueId at(const std::vector<ValueId>& ids, int i) const {
    if (i < 0 || static_cast<size_t>(i) >= ids.size() || ids[static_cast<size_t>(i)] == kNoValue) return kNoValue;
    return segment_.root[index(ids[static_cast<size_t>(i)])];
  }

  const Segment& segment_;
  const Node& node_;
};

bool is_cut_as(const Segment& segment, const CutOperand& operand) {
  return operand.root != kNoValue && extent_of(segment, operand.root) == operand.bytes;
}

std::optional<DividedCall> divide_kernel(const Segment& segment, const Call& call, int64_t parts) {
  DividedCall out{call.what.problem, {}, static_cast<double>(call.packed_bytes)};
  const std::optional<Roles> roles = divide_problem(out.problem, call.what, parts);
  if (!roles || call.row->fits(out.problem)) return std::nullopt;
  const Operands operands(segment, call);
  out.cut.push_back({operands.input(call.what.in.empty() ? -1 : call.what.in[0]), roles->in_bytes});
  out.cut.push_back({operands.output(call.what.out[0]), roles->out_bytes});
  if (roles->residual) out.cut.push_back({operands.input(call.what.residual), roles->out_bytes});
  for (size_t i = 1; i < call.what.in.size(); ++i)
    if (!operands.is_constant(operands.input(call.what.in[i]))) return std::nullopt;
  if (call.what.out.size() != 1 || !operands.is_constant(operands.input(call.what.bias))) return std::nullopt;
  // Constants are not cut: they have no memory that parts could share or have of their own.
  const bool fits = std::all_of(out.cut.begin(), out.cut.end(), [&](const CutOperand& o) {
    return !operands.is_constant(o.root) && is_cut_as(segment, o);
  });
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<DividedCall> divide_loops(const Segment& segment, const Call& call, int64_t parts) {
  const Node& node = segment.typed.nodes[static_cast<size_t>(call.node)];
  const Operands operands(segment, call);
  DividedCall out;
  std::vector<int64_t> in_bytes, out_bytes;
  const auto add = [&](ValueId root, std::vector<int64_t>& bytes) {
    const std::optional<int64_t> extent =
        operands.is_constant(root) ? std::optional<int64_t>(0) : extent_of(segment, root);
    if (!extent) return false;
    bytes.push_back(*extent);
    if (*extent > 0) out.cut.push_back({root, *extent});
    return true;
  };
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!add(operands.input(static_cast<int>(i)), in_bytes)) return std::nullopt;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!add(operands.output(static_cast<int>(i)), out_bytes)) return std::nullopt;
  const bool fits = std::all_of(call.loops.begin(), call.loops.end(), [&](const codegen::BoundKernel& loop) {
    return loop.divides(parts, in_bytes, out_bytes);
  });
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<int64_t> extent_of(const Segment& segment, ValueId root) {
  const int64_t bytes = bytes_of(segment.typed.type(root));
  const auto it = segment.lodgings.find(root);
  if (it == segment.lodgings.end()) return bytes;
  const Lodging& lodging = it->second;
  if (lodging.row_bytes == 0) return std::nullopt;
  const int64_t extent = bytes / lodging.row_bytes * lodging.stride_bytes;
  const bool same_parts = extent == bytes_of(segment.typed.type(lodging.host));
  return same_parts && lodging.offset_bytes < lodging.stride_bytes ? std::optional(extent) : std::nullopt;
}

std::optional<DividedCall> divide(const Segment& segment, const Call& call, int64_t parts) {
  switch (call.kind) {
    case Call::Kind::kernel: return divide_kernel(segment, call, parts);
    case Call::Kind::loop: return divide_loops(segment, call, parts);
    case Call::Kind::host: return std::nullopt;
  }
  return std::nullopt;
}

int64_t batch_of(const Call& call) {
  if (call.kind != Call::Kind::kernel) return 0;
  const auto* conv = std::get_if<dnn::ConvProblem>(&call.what.problem);
  return conv ? conv->n : 0;
}

}  // namespace trine
