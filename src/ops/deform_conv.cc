// DeformConv: convolution whose taps are moved by `offset` and scaled by `mask`, read with linear interpolation.
//   position of tap k in dimension d:  o*stride - pad + k*dilation + offset[n, og, k, d, o];  0 outside the input.
// Source: Dai et al. 2017 (arXiv:1703.06211), Zhu et al. 2018 (arXiv:1811.11168).
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/conv.h"
#include "ops/node_error.h"

namespace trine {
namespace {

struct Deform {
  ConvGeometry conv;
  int64_t offset_groups;
};

void require_shape(const Node& node, const Shape& got, const Shape& want, std::string_view what) {
  if (!got.has_rank()) return;
  bool same = got.rank() == want.rank();
  for (int i = 0; same && i < want.rank(); ++i)
    same = !got[i].is_constant() || !want[i].is_constant() || got[i] == want[i];
  require(node, same, fmt::format("{} has shape [{}]; want [{}]", what, got.text(), want.text()));
}

Deform deform_of(const Node& node, const Shape& x, const Shape& w, const Shape& offset, const Shape& mask) {
  Deform d{ConvGeometry::of(node, x, w), node.attrs.integer("offset_group", 1)};
  require(node, !d.conv.x.nhwc, "layout nhwc is not accepted");
  require(node, d.offset_groups >= 1 && d.offset_groups <= INT32_MAX, "offset_group must be 1 or more");
  if (const auto channels = d.conv.x.channels.constant())
    require(node, *channels % d.offset_groups == 0,
            fmt::format("{} channels; want a multiple of offset_group {}", *channels, d.offset_groups));
  Dim taps = d.offset_groups;
  for (const Dim& k : d.conv.window.kernel) taps = taps * k;
  Image image = d.conv.y;
  image.channels = taps * d.conv.window.rank();
  require_shape(node, offset, image.shape(), "offset");
  image.channels = taps;
  require_shape(node, mask, image.shape(), "mask");
  return d;
}

void deform_conv_infer(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.set(0, c.dtype(0), Shape());
  const Deform d = deform_of(c.node(), c.shape(0), c.shape(1), c.shape(2), c.shape(4));
  if (c.has(3)) require_per_channel(c.node(), c.shape(3), d.conv.y.channels, "bias");
  c.set(0, c.dtype(0), d.conv.y.shape());
}

// Linear interpolation over `at.size()` dimensions; corners outside the input read 0.
double sample(const double* plane, const Dims& in, const std::vector<double>& at) {
  const size_t n = in.size();
  for (size_t i = 0; i < n; ++i)
    if (!(at[i] > -1 && at[i] < static_cast<double>(in[i]))) return 0;
  double sum = 0;
  for (size_t corner = 0; corner < size_t{1} << n; ++corner) {
    double weight = 1;
    int64_t index = 0;
    for (size_t i = 0; i < n && weight != 0; ++i) {
      const double low = std::floor(at[i]), fraction = at[i] - low;
      const bool high = corner >> i & 1;
      const int64_t p = static_cast<int64_t>(low) + high;
      weight *= p < 0 || p >= in[i] ? 0 : high ? fraction : 1 - fraction;
      index = index * in[i] + p;
    }
    if (weight != 0) sum += weight * plane[index];
  }
  return sum;
}

void unflatten(int64_t flat, const Dims& dims, Dims& at) {
  at.resize(dims.size());
  for (size_t i = dims.size(); i-- > 0; flat /= dims[i]) at[i] = flat % dims[i];
}

struct Samples {
  std::vector<double> x, offset, mask;  // mask: empty for all ones
  WindowGrid grid;
  int64_t taps, pixels, pixels_in;
};

// Value of x under tap `k` of output pixel `o`, mask included.
double tap_value(const Deform& d, const Samples& s, int64_t n, int64_t c, int64_t o, int64_t k, const Dims& start) {
  const size_t rank = s.grid.in.size();
  const int64_t channels = d.conv.x.channels.value();
  const int64_t og = n * d.offset_groups + c / (channels / d.offset_groups);
  Dims at_kernel;
  unflatten(k, s.grid.kernel, at_kernel);
  std::vector<double> at(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t row = (og * s.taps + k) * static_cast<int64_t>(rank) + static_cast<int64_t>(i);
    at[i] = static_cast<double>(start[i] + at_kernel[i] * s.grid.dilations[i]) +
            s.offset[static_cast<size_t>(row * s.pixels + o)];
  }
  const double v = sample(s.x.data() + (n * channels + c) * s.pixels_in, s.grid.in, at);
  return s.mask.empty() ? v : v * s.mask[static_cast<size_t>((og * s.taps + k) * s.pixels + o)];
}

void accumulate(const Deform& d, const Samples& s, const std::vector<double>& w, std::vector<double>& y) {
  const int64_t batch = d.conv.x.batch.value(), out = d.conv.y.channels.value(), in = d.conv.x.channels.value();
  const int64_t group_in = in / d.conv.group, group_out = out / d.conv.group;
  Dims start;
  for (int64_t o = 0; o < s.pixels; ++o) {
    unflatten(o, s.grid.out, start);
    for (size_t i = 0; i < start.size(); ++i) start[i] = start[i] * s.grid.strides[i] - s.grid.pads_begin[i];
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t c = 0; c < in; ++c)
        for (int64_t k = 0; k < s.taps; ++k) {
          const double v = tap_value(d, s, n, c, o, k, start);
          for (int64_t j = 0; j < group_out; ++j) {
            const int64_t m = c / group_in * group_out + j;
            y[static_cast<size_t>((n * out + m) * s.pixels + o)] +=
                v * w[static_cast<size_t>((m * group_in + c % group_in) * s.taps + k)];
          }
        }
  }
}

void deform_conv_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1), &offset = c.tensor(2);
  const Shape mask = c.has(4) ? Shape::from(c.tensor(4).dims()) : Shape();
  const Deform d = deform_of(c.node(), Shape::from(x.dims()), Shape::from(w.dims()), Shape::from(offset.dims()), mask);
  Samples s{
      x.f64_values(), offset.f64_values(), {}, WindowGrid::of(c.node(), d.conv.window, d.conv.x.spatial), 0, 0, 0};
  if (c.has(4)) s.mask = c.tensor(4).f64_values();
  s.taps = element_count(s.grid.kernel);
  s.pixels = element_count(s.grid.out);
  s.pixels_in = element_count(s.grid.in);
  std::vector<double> y(value_count(d.conv.y.dims()), 0.0);
  accumulate(d, s, w.f64_values(), y);
  if (c.has(3)) {
    require_per_channel(c.node(), Shape::from(c.tensor(3).dims()), d.conv.y.channels, "bias");
    const std::vector<double> bias = c.tensor(3).f64_values();
    for_each_channel(d.conv.y, y, [&](double& v, size_t m) { v += bias[m]; });
  }
  c.set(0, Tensor::from_f64(x.dtype(), d.conv.y.dims(), y));
}

const OpDef op_deform_conv = {
    .name = "deform_conv",
    .onnx = "DeformConv",
    .doc = "convolution with taps moved by offset (linear interpolation, 0 outside) and scaled by mask",
    .types = "Tf T T T T",
    .min_inputs = 3,
    .max_inputs = 5,
    .infer = deform_conv_infer,
    .reference = deform_conv_reference,
};
const RegisterOp register_deform_conv(op_deform_conv);

}  // namespace
}  // namespace trine
