// RoiAlign: each region of interest is cut into output_height x output_width bins; a bin is the mean (or maximum) of
// bilinear samples on a regular grid in it. In mode max the corner terms, weight times value, are compared singly: so does
// the ONNX definition. MaxRoiPool: the maximum over whole pixels per bin.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/shape_rules.h"

namespace trine {
namespace {

constexpr int64_t kMaxSamples = 1 << 12;  // per bin side: a region cannot ask for unbounded work

struct Sample {
  int64_t at[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
};

// The two neighbours of position p on an axis and the weight of the second.
struct Neighbours {
  int64_t low, high;
  double ratio;
};

Neighbours neighbours(double p, int64_t size) {
  p = std::max(p, 0.0);
  const auto low = std::min(static_cast<int64_t>(p), size - 1);
  if (low >= size - 1) return {size - 1, size - 1, 0};
  return {low, low + 1, p - static_cast<double>(low)};
}

Sample bilinear(double y, double x, int64_t height, int64_t width) {
  Sample s;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return s;
  const Neighbours v = neighbours(y, height), h = neighbours(x, width);
  for (int k = 0; k < 4; ++k) {
    s.at[k] = (k < 2 ? v.low : v.high) * width + (k % 2 ? h.high : h.low);
    s.weight[k] = (k < 2 ? 1 - v.ratio : v.ratio) * (k % 2 ? h.ratio : 1 - h.ratio);
  }
  return s;
}

void infer_roi(InferContext& c, const Dim& regions, int64_t height, int64_t width) {
  if (height < 1 || width < 1) c.fail("output size " + std::to_string(height) + "x" + std::to_string(width) + "; it must be >= 1");
  c.need_rank(0, 4);
  c.set(0, c.dtype(0), {regions, c.shape(0).has_rank() ? c.shape(0)[1] : c.fresh("channels"), height, width});
}

void infer_roi_align(InferContext& c) {
  c.need_rank(1, 2);
  c.need_rank(2, 1);
  infer_roi(c, c.shape(1).has_rank() ? c.shape(1)[0] : c.fresh("rois"), c.attrs().integer("output_height", 1),
            c.attrs().integer("output_width", 1));
}

// Samples of one bin side.
int64_t sample_count(const EvalContext& c, double bin) {
  const int64_t given = c.attrs().integer("sampling_ratio");
  const double wanted = given > 0 ? static_cast<double>(given) : std::ceil(bin);
  if (!(wanted <= static_cast<double>(kMaxSamples)))
    c.fail("a region needs " + std::to_string(wanted) + " samples per bin side; at most " + std::to_string(kMaxSamples));
  return std::max<int64_t>(static_cast<int64_t>(wanted), 0);
}

void roi_align_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &rois = c.tensor(1);
  const auto batch = c.tensor(2).i64_values();
  if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 4 || rois.dim(0) != static_cast<int64_t>(batch.size()))
    c.fail("x is " + x.type_text() + ", rois " + rois.type_text() + "; want [N,C,H,W], [R,4] and R batch indices");
  const std::string mode = c.attrs().string("mode", "avg");
  const std::string coordinates = c.attrs().string("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max") c.fail("mode '" + mode + "'; one of avg, max");
  const bool half = coordinates == "half_pixel", average = mode == "avg";
  const int64_t rows = c.attrs().integer("output_height", 1), columns = c.attrs().integer("output_width", 1);
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  const double scale = c.attrs().real("spatial_scale", 1), shift = half ? 0.5 : 0;
  const Dims dims{rois.dim(0), channels, rows, columns};
  std::vector<double> y(static_cast<size_t>(element_count(dims)));
  if (!y.empty() && x.elements() == 0) c.fail("x is " + x.type_text() + "; it holds nothing to sample");
  const auto values = x.f64_values(), corners = rois.f64_values();
  for (int64_t r = 0; !y.empty() && r < rois.dim(0); ++r) {
    const int64_t n = c.checked_index(batch[static_cast<size_t>(r)], x.dim(0), "batch index");
    const double* roi = &corners[static_cast<size_t>(4 * r)];
    const double left = roi[0] * scale - shift, top = roi[1] * scale - shift;
    double w = roi[2] * scale - shift - left, h = roi[3] * scale - shift - top;
    if (!half) {
      w = std::max(w, 1.0);
      h = std::max(h, 1.0);
    }
    const double bin_h = h / static_cast<double>(rows), bin_w = w / static_cast<double>(columns);
    const int64_t down = sample_count(c, bin_h), across = sample_count(c, bin_w);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        std::vector<Sample> samples;
        for (int64_t a = 0; a < down; ++a)
          for (int64_t b = 0; b < across; ++b)
            samples.push_back(bilinear(
                top + (static_cast<double>(i) + (static_cast<double>(a) + 0.5) / static_cast<double>(down)) * bin_h,
                left + (static_cast<double>(j) + (static_cast<double>(b) + 0.5) / static_cast<double>(across)) * bin_w,
                height, width));
        for (int64_t ch = 0; ch < channels; ++ch) {
          const double* plane = &values[static_cast<size_t>((n * channels + ch) * height * width)];
          double sum = 0, best = -std::numeric_limits<double>::infinity();
          for (const Sample& s : samples)
            for (int k = 0; k < 4; ++k) {
              const double term = s.weight[k] * plane[s.at[k]];
              sum += term;
              best = std::max(best, term);
            }
          const auto count = static_cast<double>(std::max<size_t>(samples.size(), 1));
          y[static_cast<size_t>(((r * channels + ch) * rows + i) * columns + j)] =
              average ? sum / count : samples.empty() ? 0 : best;
        }
      }
  }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef kRoiAlign = {.name = "roi_align",
                         .onnx = "RoiAlign",
                         .doc = "mean or maximum of bilinear samples per bin of each region",
                         .min_inputs = 3,
                         .max_inputs = 3,
                         .infer = infer_roi_align,
                         .reference = roi_align_reference};
const RegisterOp kRegisterRoiAlign(kRoiAlign);

Dims pooled_shape(const Attrs& attrs) {
  const auto shape = attrs.integers("pooled_shape");
  return shape.size() == 2 ? shape : Dims{0, 0};
}

void infer_max_roi_pool(InferContext& c) {
  c.need_rank(1, 2);
  const Dims pooled = pooled_shape(c.attrs());
  infer_roi(c, c.shape(1).has_rank() ? c.shape(1)[0] : c.fresh("rois"), pooled[0], pooled[1]);
}

// Pixels [floor(i * bin), ceil((i + 1) * bin)) from `start`, cut to the axis.
struct PixelSpan {
  int64_t from, to;
};

PixelSpan pixel_span(int64_t i, double start, double length, int64_t bins, int64_t size) {
  const double bin = length / static_cast<double>(bins), limit = static_cast<double>(size);
  const double from = std::floor(static_cast<double>(i) * bin) + start, to = std::ceil(static_cast<double>(i + 1) * bin) + start;
  return {static_cast<int64_t>(std::clamp(from, 0.0, limit)), static_cast<int64_t>(std::clamp(to, 0.0, limit))};
}

void max_roi_pool_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &rois = c.tensor(1);
  if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 5)
    c.fail("x is " + x.type_text() + ", rois " + rois.type_text() + "; want [N,C,H,W] and [R,5]");
  const Dims pooled = pooled_shape(c.attrs());
  const double scale = c.attrs().real("spatial_scale", 1);
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  const Dims dims{rois.dim(0), channels, pooled[0], pooled[1]};
  std::vector<double> y(static_cast<size_t>(element_count(dims)));
  const auto values = x.f64_values(), corners = rois.f64_values();
  for (int64_t r = 0; !y.empty() && r < rois.dim(0); ++r) {
    const double* roi = &corners[static_cast<size_t>(5 * r)];
    if (!std::isfinite(roi[0]) || std::fabs(roi[0]) > 1e9) c.fail("a batch index is no small integer");
    const int64_t n = c.checked_index(static_cast<int64_t>(roi[0]), x.dim(0), "batch index");
    const double left = std::round(roi[1] * scale), top = std::round(roi[2] * scale);
    const double w = std::max(std::round(roi[3] * scale) - left + 1, 1.0), h = std::max(std::round(roi[4] * scale) - top + 1, 1.0);
    for (int64_t ch = 0; ch < channels; ++ch)
      for (int64_t i = 0; i < pooled[0]; ++i)
        for (int64_t j = 0; j < pooled[1]; ++j) {
          const PixelSpan down = pixel_span(i, top, h, pooled[0], height), across = pixel_span(j, left, w, pooled[1], width);
          const bool empty = down.from >= down.to || across.from >= across.to;
          double best = empty ? 0 : -std::numeric_limits<double>::infinity();
          for (int64_t a = down.from; a < down.to; ++a)
            for (int64_t b = across.from; b < across.to; ++b)
              best = std::max(best, values[static_cast<size_t>(((n * channels + ch) * height + a) * width + b)]);
          y[static_cast<size_t>(((r * channels + ch) * pooled[0] + i) * pooled[1] + j)] = best;
        }
  }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef kMaxRoiPool = {.name = "max_roi_pool",
                           .onnx = "MaxRoiPool",
                           .doc = "maximum per bin of each region (batch, x1, y1, x2, y2)",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer_max_roi_pool,
                           .reference = max_roi_pool_reference};
const RegisterOp kRegisterMaxRoiPool(kMaxRoiPool);

}  // namespace
}  // namespace trine
