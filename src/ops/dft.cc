// DFT and STFT. Complex numbers are a last dimension of 2, real ones of 1.
#include <algorithm>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/fft.h"
#include "ops/node_error.h"

namespace trine {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kMaxLength = 1 << 26;  // dft_length is a number in the model: bounds what it makes us allocate

struct DftKind {
  bool inverse, onesided;
};

DftKind kind_of(const Node& node) { return {node.attrs.integer("inverse") != 0, node.attrs.integer("onesided") != 0}; }

int dft_axis(const Node& node, int64_t axis, int rank) {
  require(node, rank >= 2, fmt::format("x has {} dimensions; want 2 or more", rank));
  require(node, axis >= -rank && axis < rank && axis != -1 && axis != rank - 1,
          fmt::format("axis {} outside [{}, -2] and [0, {}]", axis, -rank, rank - 2));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dim dft_output(const DftKind& kind, const Dim& length) {
  return kind.onesided && !kind.inverse ? floor_div(length, 2) + 1 : length;
}

// Inputs: x, [dft_length], [axis]
void dft_infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const auto axis_value = c.has(2) ? c.integers(2) : std::vector<int64_t>{-2};
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  if (!axis_value || axis_value->size() != 1) return c.set(0, c.dtype(0), c.fresh_shape(x.rank()));
  const DftKind kind = kind_of(c.node());
  const int axis = dft_axis(c.node(), (*axis_value)[0], x.rank());
  Shape y = x;
  Dim length = kind.inverse && kind.onesided ? (x[axis] - 1) * 2 : x[axis];
  if (c.has(1)) {
    const auto given = c.content(1);
    length = given && given->size() == 1 ? (*given)[0] : c.fresh("dft");
  }
  y[axis] = dft_output(kind, length);
  y[x.rank() - 1] = kind.inverse && kind.onesided ? 1 : 2;
  c.set(0, c.dtype(0), y);
}

int64_t scalar(EvalContext& c, int input) {
  require(c.node(), c.tensor(input).elements() == 1,
          fmt::format("input {} is {}; want one element", input, c.tensor(input).type_text()));
  return c.tensor(input).i64_values()[0];
}

// A signal of `length` samples read at x[(start + i) * step], zeros past `available`; parts = 1 real, 2 complex.
std::vector<Complex> gather(const std::vector<double>& x, int64_t start, int64_t step, int64_t parts, int64_t available,
                            int64_t length) {
  std::vector<Complex> s(static_cast<size_t>(length));
  for (int64_t i = 0; i < std::min(available, length); ++i) {
    const size_t at = static_cast<size_t>(start + i * step);
    s[static_cast<size_t>(i)] = {x[at], parts == 2 ? x[at + 1] : 0.0};
  }
  return s;
}

// The half spectrum's missing bins are the conjugates of the ones that are there.
void complete_spectrum(std::vector<Complex>& s) {
  const size_t n = s.size();
  if (n == 0) return;
  s[0] = s[0].real();
  if (n % 2 == 0) s[n / 2] = s[n / 2].real();
  for (size_t k = n / 2 + 1; k < n; ++k) s[k] = std::conj(s[n - k]);
}

void dft_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const DftKind kind = kind_of(c.node());
  const int axis = dft_axis(c.node(), c.has(2) ? scalar(c, 2) : -2, x.rank());
  const int64_t parts = x.dims().back(), in = x.dim(axis);
  require(c.node(), parts == 1 || parts == 2,
          fmt::format("x is {}; want a last dimension of 1 (real) or 2 (complex)", x.type_text()));
  require(c.node(), !kind.onesided || parts == (kind.inverse ? 2 : 1),
          fmt::format("onesided {} of {}", kind.inverse ? "inverse" : "transform", x.type_text()));
  const int64_t length = c.has(1)                        ? scalar(c, 1)
                         : kind.inverse && kind.onesided ? std::max<int64_t>(2 * (in - 1), 0)
                                                         : in;
  const int64_t least =
      c.has(1) || (kind.onesided && !kind.inverse) ? 1 : 0;  // one bin even of no sample: there is none
  require(c.node(), length >= least && length <= kMaxLength,
          fmt::format("dft_length is {}; want {} to {}", length, least, kMaxLength));
  const bool to_real = kind.inverse && kind.onesided;
  const int64_t out = dft_output(kind, length).value(), out_parts = to_real ? 1 : 2;
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = out;
  dims.back() = out_parts;
  int64_t inner = 1;  // between the axis and the last dimension
  for (int i = axis + 1; i < x.rank() - 1; ++i) inner *= x.dim(i);
  const std::vector<double> xv = x.f64_values();
  std::vector<double> y(value_count(dims));
  const int64_t outer = y.empty() ? 0 : static_cast<int64_t>(y.size()) / (out * inner * out_parts);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<Complex> s = gather(xv, (o * in * inner + i) * parts, inner * parts, parts, in, length);
      if (to_real) complete_spectrum(s);
      s = fft(std::move(s), kind.inverse);
      for (int64_t k = 0; k < out; ++k) {
        const size_t at = static_cast<size_t>(((o * out + k) * inner + i) * out_parts);
        y[at] = s[static_cast<size_t>(k)].real();
        if (!to_real) y[at + 1] = s[static_cast<size_t>(k)].imag();
      }
    }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef op_dft = {
    .name = "dft",
    .onnx = "DFT",
    .doc = "y[k] = sum_n x[n] exp(-2 pi i k n / N) along an axis, or its inverse; onesided keeps N/2+1 bins",
    .types = "f x x",
    .min_inputs = 1,
    .max_inputs = 3,
    .infer = dft_infer,
    .reference = dft_reference,
};
const RegisterOp register_dft(op_dft);

// STFT inputs: signal [B,L,1|2], frame_step, [window], [frame_length]; y [B,frames,bins,2]
void stft_infer(InferContext& c) {
  c.need_rank(0, 3);
  const Shape& x = c.shape(0);
  const auto step = c.integers(1), given = c.has(3) ? c.integers(3) : std::nullopt;
  Dim length = c.fresh("frame");
  if (given && given->size() == 1) length = (*given)[0];
  else if (!c.has(3) && c.shape(2).rank() == 1) length = c.shape(2)[0];
  else if (!c.has(3) && !c.has(2) && x.has_rank()) length = x[1];
  Dim frames = c.fresh("frames");
  if (step && step->size() == 1 && (*step)[0] > 0 && x.has_rank()) frames = floor_div(x[1] - length, (*step)[0]) + 1;
  const Dim bins = c.attrs().integer("onesided", 1) != 0 ? floor_div(length, 2) + 1 : length;
  if (length.is_constant() && x.has_rank() && x[1].is_constant() && length.value() > x[1].value())
    c.fail(fmt::format("frames of {} in a signal of {}", length.text(), x[1].text()));
  if (frames.is_constant() && frames.value() < 0)
    c.fail(fmt::format("frames of {} in a signal of {}", length.text(), x[1].text()));
  c.set(0, c.dtype(0), Shape{x.has_rank() ? x[0] : c.fresh("batch"), frames, bins, 2});
}

void stft_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  require(c.node(), x.rank() == 3 && (x.dim(2) == 1 || x.dim(2) == 2),
          fmt::format("signal is {}; want [batch,length,1 or 2]", x.type_text()));
  const int64_t step = scalar(c, 1), parts = x.dim(2);
  std::vector<double> window;
  if (c.has(2)) window = c.tensor(2).f64_values();
  const int64_t length = c.has(3) ? scalar(c, 3) : c.has(2) ? static_cast<int64_t>(window.size()) : x.dim(1);
  require(c.node(), step >= 1 && length >= 1 && length <= x.dim(1),
          fmt::format("frames of {} every {} in a signal of {}", length, step, x.dim(1)));
  if (!c.has(2)) window.assign(static_cast<size_t>(length), 1.0);
  require(c.node(), static_cast<int64_t>(window.size()) == length,
          fmt::format("window has {} elements; frame_length is {}", window.size(), length));
  const bool onesided = c.attrs().integer("onesided", 1) != 0;
  require(c.node(), !onesided || parts == 1, "onesided needs a real signal");
  const int64_t frames = (x.dim(1) - length) / step + 1, bins = onesided ? length / 2 + 1 : length;
  const std::vector<double> xv = x.f64_values();
  const Dims dims = {x.dim(0), frames, bins, 2};
  std::vector<double> y;
  y.reserve(value_count(dims));
  for (int64_t b = 0; b < x.dim(0); ++b)
    for (int64_t f = 0; f < frames; ++f) {
      std::vector<Complex> s = gather(xv, (b * x.dim(1) + f * step) * parts, parts, parts, length, length);
      for (size_t i = 0; i < s.size(); ++i) s[i] *= window[i];
      s = fft(std::move(s));
      for (int64_t k = 0; k < bins; ++k)
        y.insert(y.end(), {s[static_cast<size_t>(k)].real(), s[static_cast<size_t>(k)].imag()});
    }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef op_stft = {
    .name = "stft",
    .onnx = "STFT",
    .doc = "dft of windowed frames taken every frame_step samples",
    .types = "Tfi Ux T U",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = stft_infer,
    .reference = stft_reference,
};
const RegisterOp register_stft(op_stft);

}  // namespace
}  // namespace trine
