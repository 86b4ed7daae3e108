// Convolution and matmul by plain loops in f64.
#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 1.0 / (1 << 24);

int64_t or_dense(int64_t stride, int64_t dense) { return stride ? stride : dense; }

// Where a kernel position of an output position reads, along one axis; -1 outside.
int64_t source(const ConvProblem& p, size_t axis, int64_t out, int64_t k) {
  if (!p.transposed) {
    int64_t i = out * p.stride[axis] + k * p.dilation[axis] - p.pad_begin[axis];
    return i < 0 || i >= p.in[axis] ? -1 : i;
  }
  int64_t i = out + p.pad_begin[axis] - k * p.dilation[axis];
  if (i < 0 || i % p.stride[axis] || i / p.stride[axis] >= p.in[axis]) return -1;
  return i / p.stride[axis];
}

struct Sum {
  double value = 0, magnitude = 0;
  int64_t terms = 0;
  void add(double a, double b) {
    value += a * b;
    magnitude += std::abs(a * b);
    ++terms;
  }
  double bound() const { return 2 * static_cast<double>(terms + 8) * kEps * magnitude; }
};

float scale_of(const ElementTypes& types, const Data& data, int64_t channel) {
  return data.scales[types.scale_per_channel ? static_cast<size_t>(channel) : 0];
}

template <class F>
void for_each_position(const Extents& e, F f) {
  for (int64_t z = 0; z < e[0]; ++z)
    for (int64_t y = 0; y < e[1]; ++y)
      for (int64_t x = 0; x < e[2]; ++x) f(z, y, x);
}

// A position of the kernel that reads within the image.
struct Tap {
  int64_t pixel, tap;
};

std::vector<Tap> taps_of(const ConvProblem& p, int64_t oz, int64_t oy, int64_t ox) {
  std::vector<Tap> taps;
  int64_t tap = 0;
  for_each_position(p.kernel, [&](int64_t kz, int64_t ky, int64_t kx) {
    const int64_t z = source(p, 0, oz, kz), y = source(p, 1, oy, ky), x = source(p, 2, ox, kx);
    if (z >= 0 && y >= 0 && x >= 0) taps.push_back({(z * p.in[1] + y) * p.in[2] + x, tap});
    ++tap;
  });
  return taps;
}

// Where an operand's numbers lie, by its pixel or kernel position and its channel.
struct Lines {
  const float* first;
  int64_t step, channel_step;
  double at(int64_t position, int64_t channel) const {
    return static_cast<double>(first[position * step + channel * channel_step]);
  }
};

Lines image_of(const ConvProblem& p, const Data& data, int64_t n, int64_t first_channel) {
  const int64_t spatial = p.in[0] * p.in[1] * p.in[2], ldx = or_dense(p.in_pixel_stride, p.in_channels);
  const float* x = data.in[0].data();
  if (p.in_layout == Layout::nhwc) return {x + n * spatial * ldx + first_channel, ldx, 1};
  return {x + (n * p.in_channels + first_channel) * spatial, 1, spatial};
}

// Of output channel m; channels are those within its group.
Lines weights_of(const ConvProblem& p, const Data& data, int64_t m) {
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], per_group = p.out_per_group();
  const float* w = data.weights[0].data();
  if (!p.transposed) return {w + m * p.in_per_group() * taps, 1, taps};
  return {w + (m / per_group * p.in_per_group() * per_group + m % per_group) * taps, 1, per_group * taps};
}

Sum sum_of(const Lines& x, const Lines& w, const std::vector<Tap>& taps, int64_t channels, double zero) {
  Sum sum;
  for (const Tap& t : taps)
    for (int64_t c = 0; c < channels; ++c) sum.add(x.at(t.pixel, c) - zero, w.at(t.tap, c));
  return sum;
}

}  // namespace

Expected conv_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<ConvProblem>(problem);
  const int64_t ldy = or_dense(p.out_pixel_stride, p.out_channels), out_pixels = p.out[0] * p.out[1] * p.out[2];
  const double zero = data.quantization.in_zero;
  Expected e;
  size_t size = static_cast<size_t>(operand_sizes(problem).out[0]);
  e.out[0].assign(size, untouched(p.types.out));  // between pixels nothing is written
  e.bound[0].assign(size, 0);
  if (p.types.in == DType::bf16) e.bound_of_transforms.assign(size, 0);
  const bool are_integers = p.types.are_integers();
  for (int64_t n = 0; n < p.n; ++n) {
    int64_t pixel = 0;
    for_each_position(p.out, [&](int64_t oz, int64_t oy, int64_t ox) {
      const std::vector<Tap> taps = taps_of(p, oz, oy, ox);
      for (int64_t m = 0; m < p.out_channels; ++m) {
        const Lines x = image_of(p, data, n, m / p.out_per_group() * p.in_per_group());
        const Sum sum = sum_of(x, weights_of(p, data, m), taps, p.in_per_group(), zero);
        auto i = static_cast<size_t>((n * out_pixels + pixel) * ldy + m);
        double bias = data.bias.empty() ? 0 : data.bias[static_cast<size_t>(m)];
        double residual = data.residual.empty() ? 0 : data.residual[i];
        Bounded y = are_integers ? finish_integers(p.types, data.quantization, scale_of(p.types, data, m), p.epilogue,
                                                   sum.value, bias, residual)
                                 : finish(p.epilogue, sum.value, sum.bound(), bias, residual);
        e.out[0][i] = y.value;
        e.bound[0][i] = y.bound;
        // 5 or more times what such errors on random data come to; winograd_test has the bound of each element.
        if (p.types.in == DType::bf16)
          e.bound_of_transforms[i] = finish(p.epilogue, sum.value, 0x1p-6 * sum.magnitude, bias, residual).bound;
      }
      ++pixel;
    });
  }
  return e;
}

Expected matmul_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<MatmulProblem>(problem);
  Dims batch = batch_of(p);
  int64_t batches = element_count(batch);
  const Floats& bs = p.b_constant ? data.weights[0] : data.in[1];
  auto index = [&](int64_t i, const Dims& own) {
    int64_t result = 0, stride = 1;
    for (size_t d = 0; d < batch.size(); ++d) {
      size_t axis = batch.size() - 1 - d;
      int64_t at = i % batch[axis];
      i /= batch[axis];
      if (d >= own.size()) continue;
      int64_t size = own[own.size() - 1 - d];
      result += (size == 1 ? 0 : at) * stride;
      stride *= size;
    }
    return result;
  };
  int64_t ldc = or_dense(p.out_row_stride, p.n);
  double zero = data.quantization.in_zero;
  Expected e;
  e.out[0].assign(static_cast<size_t>(batches * p.m * ldc), untouched(p.types.out));
  e.bound[0].assign(e.out[0].size(), 0);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        const int64_t a0 = index(b, p.a_batch) * p.m * p.k + (p.trans_a ? i : i * p.k);
        const int64_t b0 = index(b, p.b_batch) * p.k * p.n + (p.trans_b ? j * p.k : j);
        const Lines a{data.in[0].data() + (p.k ? a0 : 0), p.trans_a ? p.m : 1, 0};
        const Lines column{bs.data() + (p.k ? b0 : 0), p.trans_b ? 1 : p.n, 0};
        Sum sum;
        for (int64_t k = 0; k < p.k; ++k) sum.add(a.at(k, 0) - zero, column.at(k, 0));
        auto at = static_cast<size_t>((b * p.m + i) * ldc + j);
        double bias = data.bias.empty() ? 0 : data.bias[static_cast<size_t>(j)];
        double residual = data.residual.empty() ? 0 : data.residual[at];
        double alpha = p.alpha;
        Bounded y = p.types.are_integers()
                        ? finish_integers(p.types, data.quantization, scale_of(p.types, data, j) * p.alpha, p.epilogue,
                                          sum.value, bias, residual)
                        : finish(p.epilogue, alpha * sum.value, std::abs(alpha) * sum.bound(), bias, residual);
        e.out[0][at] = y.value;
        e.bound[0][at] = y.bound;
      }
  return e;
}

}  // namespace trine::dnn::test
