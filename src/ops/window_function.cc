// HannWindow, HammingWindow, BlackmanWindow: sums of cosines over [0, N), N = size (periodic) or size - 1; and
// MelWeightMatrix: triangles on the mel scale mel(f) = 2595 log10(1 + f/700).
#include <cmath>
#include <numbers>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"

namespace trine {
namespace {

// One number in the model decides how much is allocated: far above any real window, far below a machine's memory.
constexpr int64_t kMaxCount = 1 << 22;

int64_t count_of(EvalContext& c, int input, std::string_view what) {
  const Tensor& t = c.tensor(input);
  require(c.node(), t.elements() == 1, fmt::format("{} is {}; want one element", what, t.type_text()));
  const int64_t n = t.i64_values()[0];
  require(c.node(), n >= 0 && n <= kMaxCount, fmt::format("{} is {}; want 0 to {}", what, n, kMaxCount));
  return n;
}

Dim size_of(InferContext& c, int input) {
  const auto content = c.content(input);
  return content && content->size() == 1 ? (*content)[0] : c.fresh("size");
}

void window_infer(InferContext& c) { c.set(0, c.attrs().dtype("output_datatype", DType::f32), Shape{size_of(c, 0)}); }

// w[n] = a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
void window(EvalContext& c, double a0, double a1, double a2) {
  const int64_t size = count_of(c, 0, "size");
  const double period = static_cast<double>(c.attrs().integer("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> w(value_count(Dims{size}), 1.0);  // a single symmetric point is 1
  for (size_t n = 0; n < w.size() && period > 0; ++n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(n) / period;
    w[n] = a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);
  }
  c.set(0, Tensor::from_f64(c.attrs().dtype("output_datatype", DType::f32), {size}, w));
}

void hann_reference(EvalContext& c) { window(c, 0.5, 0.5, 0); }
void hamming_reference(EvalContext& c) { window(c, 25.0 / 46, 21.0 / 46, 0); }
void blackman_reference(EvalContext& c) { window(c, 0.42, 0.5, 0.08); }

const OpDef op_hann_window = {
    .name = "hann_window",
    .onnx = "HannWindow",
    .doc = "0.5 - 0.5 cos(2 pi n / N)",
    .types = "x",
    .infer = window_infer,
    .reference = hann_reference,
};
const RegisterOp register_hann_window(op_hann_window);

const OpDef op_hamming_window = {
    .name = "hamming_window",
    .onnx = "HammingWindow",
    .doc = "25/46 - 21/46 cos(2 pi n / N)",
    .types = "x",
    .infer = window_infer,
    .reference = hamming_reference,
};
const RegisterOp register_hamming_window(op_hamming_window);

const OpDef op_blackman_window = {
    .name = "blackman_window",
    .onnx = "BlackmanWindow",
    .doc = "0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)",
    .types = "x",
    .infer = window_infer,
    .reference = blackman_reference,
};
const RegisterOp register_blackman_window(op_blackman_window);

// Inputs: num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz; y [dft_length/2 + 1, num_mel_bins]
void mel_infer(InferContext& c) {
  c.set(0, c.attrs().dtype("output_datatype", DType::f32), Shape{floor_div(size_of(c, 1), 2) + 1, size_of(c, 0)});
}

double edge_of(EvalContext& c, int input) {
  const Tensor& t = c.tensor(input);
  require(c.node(), t.elements() == 1, fmt::format("input {} is {}; want one element", input, t.type_text()));
  const double hertz = t.f64_values()[0];
  require(c.node(), hertz > -700 && std::isfinite(hertz), fmt::format("input {} is {} Hz", input, hertz));
  return 2595 * std::log10(1 + hertz / 700);
}

// Spectrogram bin of each of the bins + 2 corners of the triangles, evenly spaced in mel.
std::vector<int64_t> corners(EvalContext& c, int64_t bins, int64_t dft, int64_t rate) {
  const double low = edge_of(c, 3), step = (edge_of(c, 4) - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (low + static_cast<double>(i) * step) / 2595) - 1);
    const double bin = std::floor(static_cast<double>(dft + 1) * hertz / static_cast<double>(rate));
    require(c.node(), bin >= 0 && bin <= static_cast<double>(dft / 2),
            fmt::format("{} Hz lies outside the spectrum of {} samples at {} Hz", hertz, dft, rate));
    at.push_back(static_cast<int64_t>(bin));
  }
  return at;
}

void mel_reference(EvalContext& c) {
  const int64_t bins = count_of(c, 0, "num_mel_bins"), dft = count_of(c, 1, "dft_length"),
                rate = count_of(c, 2, "sample_rate");
  require(c.node(), rate >= 1, "sample_rate is 0");
  const Dims dims = {dft / 2 + 1, bins};
  require(c.node(), element_count(dims) <= int64_t{kMaxCount} * 16,
          fmt::format("the matrix would be [{}]", to_string(dims)));
  std::vector<double> y(value_count(dims), 0.0);
  const std::vector<int64_t> at = corners(c, bins, dft, rate);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t low = at[static_cast<size_t>(i)], mid = at[static_cast<size_t>(i) + 1],
                  high = at[static_cast<size_t>(i) + 2];
    const auto put = [&](int64_t row, double v) { y[static_cast<size_t>(row * bins + i)] = v; };
    if (mid == low) put(mid, 1);
    for (int64_t j = low; j <= mid && mid > low; ++j)
      put(j, static_cast<double>(j - low) / static_cast<double>(mid - low));
    for (int64_t j = mid; j < high; ++j) put(j, static_cast<double>(high - j) / static_cast<double>(high - mid));
  }
  c.set(0, Tensor::from_f64(c.attrs().dtype("output_datatype", DType::f32), dims, y));
}

const OpDef op_mel_weight_matrix = {
    .name = "mel_weight_matrix",
    .onnx = "MelWeightMatrix",
    .doc = "triangular filters, evenly spaced on the mel scale, over the bins of a one-sided spectrum",
    .types = "Tx T T Uf U",
    .min_inputs = 5,
    .max_inputs = 5,
    .infer = mel_infer,
    .reference = mel_reference,
};
const RegisterOp register_mel_weight_matrix(op_mel_weight_matrix);

}  // namespace
}  // namespace trine
