#include "dnn/views.h"

#include <fmt/format.h>

#include <algorithm>

#include "dnn/operands.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Dimensions of more than one element with their strides, outermost stride first: elements share memory unless each
// stride is at least what the inner dimensions reach.
bool is_injective(const View& view) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, size
  for (size_t i = 0; i < view.dims.size(); ++i)
    if (view.dims[i] > 1) axes.emplace_back(view.strides[i], view.dims[i]);
  std::sort(axes.begin(), axes.end());
  int64_t reach = 1;
  for (const auto& [stride, size] : axes) {
    if (stride < reach) return false;
    reach = stride * (size - 1) + reach;
  }
  return true;
}

void check_view(const Problem& problem, const View& view, std::string_view name, int i, int64_t size, bool is_out) {
  if (!view.is_given()) return;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: view of {}[{}]: {}", text(problem), name, i, what));
  };
  if (view.dims.size() != view.strides.size() || view.dims.size() > kMaxRank)
    fail(fmt::format("{} dimensions and {} strides; give as many, {} at most", view.dims.size(), view.strides.size(),
                     kMaxRank));
  if (std::any_of(view.dims.begin(), view.dims.end(), [](int64_t d) { return d < 0; }) ||
      element_count(view.dims) != size)
    fail(fmt::format("dimensions [{}]; the operand has {} elements", fmt::join(view.dims, ","), size));
  if (is_out && !is_injective(view)) fail("some of its elements share memory; give strides that keep them apart");
}

// An image [n, pixels in any number of dimensions, channels] whose view is what a layout and a pixel stride can say.
struct ImageStrides {
  bool fits = false;
  int64_t pixel = 0;  // nhwc: from pixel to pixel; 0 when dense
  bool nchw = false;

  ImageStrides(const View& view, int64_t n, const Extents& e, int64_t channels) {
    const int64_t pixels = e[0] * e[1] * e[2];
    const size_t rank = view.dims.size();
    if (rank < 2 || view.dims.front() != n || view.dims.back() != channels || n * pixels * channels == 0) return;
    const int64_t channel = channels == 1 ? 1 : view.strides.back();
    int64_t step = 0, inner = 1;  // from pixel to pixel; pixels of the dimensions seen
    for (size_t i = rank - 2; i >= 1; inner *= view.dims[i--]) {
      if (view.dims[i] == 1) continue;
      if (step == 0) step = view.strides[i];
      if (view.strides[i] != step * inner) return;
    }
    const int64_t image = n == 1 ? 0 : view.strides.front();
    const int64_t wide = step ? step : image ? image : channels;  // of one pixel: what lies between images
    if (channel == 1 && wide >= channels && (image == 0 || image == wide * pixels)) {
      fits = true, pixel = wide == channels ? 0 : wide;
    } else if (channel == pixels && step <= 1 && (image == 0 || image == channels * pixels)) {
      fits = nchw = true;
    }
  }
};

void absorb(ConvProblem& p, Views& views) {
  if (View& v = views.in[0]; v.is_given() && !p.in_pixel_stride && p.in_layout == Layout::nhwc) {
    const ImageStrides s(v, p.n, p.in, p.in_channels);
    if (s.fits) p.in_pixel_stride = s.pixel, p.in_layout = s.nchw ? Layout::nchw : Layout::nhwc, v = {};
  }
  if (View& v = views.out[0]; v.is_given() && !p.out_pixel_stride && p.epilogue.residual == Residual::none) {
    const ImageStrides s(v, p.n, p.out, p.out_channels);
    if (s.fits && !s.nchw) p.out_pixel_stride = s.pixel, v = {};
  }
}

void absorb(PoolProblem& p, Views& views) {
  View &x = views.in[0], &y = views.out[0];
  if (!x.is_given() && !y.is_given()) return;
  if (p.layout == Layout::nchw || p.in_pixel_stride || p.out_pixel_stride) return;
  const auto strides_of = [&](const View& v, const Extents& e) {
    return v.is_given()
               ? ImageStrides(v, p.n, e, p.channels)
               : ImageStrides({{p.n, e[0] * e[1] * e[2], p.channels}, {e[0] * e[1] * e[2] * p.channels, p.channels, 1}},
                              p.n, e, p.channels);
  };
  const ImageStrides in = strides_of(x, p.in), out = strides_of(y, p.out);
  if (in.fits && out.fits && in.nchw && out.nchw) {
    p.layout = Layout::nchw, x = {}, y = {};
    return;
  }
  if (in.fits && !in.nchw) p.in_pixel_stride = in.pixel, x = {};
  if (out.fits && !out.nchw) p.out_pixel_stride = out.pixel, y = {};
}

template <class P>
void absorb(P&, Views&) {}

}  // namespace

void check_views(const Problem& problem, const Views& views) {
  const OperandSizes sizes = operand_sizes(problem);
  for (int i = 0; i < kMostOperands; ++i) {
    check_view(problem, views.in[i], "in", i, sizes.in[i], false);
    check_view(problem, views.out[i], "out", i, sizes.out[i], true);
  }
  for (int i = 0; i < kMostWeights; ++i) check_view(problem, views.weights[i], "weights", i, sizes.weights[i], false);
  check_view(problem, views.residual, "residual", 0, sizes.residual, false);
}

Problem absorb(const Problem& problem, Views& views) {
  Problem own = problem;
  std::visit([&](auto& p) { absorb(p, views); }, own);
  return own;
}

ConvProblem in_nhwc(const ConvProblem& problem, View& view) {
  ConvProblem own = problem;
  own.in_layout = Layout::nhwc, own.in_pixel_stride = 0;
  const int64_t pixels = own.in[0] * own.in[1] * own.in[2];
  view = {{own.n, pixels, own.in_channels}, {own.in_channels * pixels, 1, pixels}};
  return own;
}

CopyProblem copy_in(const View& view, DType type) {
  return {view.dims, view.strides, dense_strides(view.dims), static_cast<int64_t>(byte_size(type))};
}

CopyProblem copy_out(const View& view, DType type) {
  return {view.dims, dense_strides(view.dims), view.strides, static_cast<int64_t>(byte_size(type))};
}

bool reads_outputs(const Problem& problem) {
  if (const auto* rnn = std::get_if<RnnProblem>(&problem)) return rnn->add;
  const auto* weights = std::get_if<ConvWeightsProblem>(&problem);
  return weights && weights->add;
}

}  // namespace trine::dnn
