// RoiAlign: each region of interest is cut into output_height x output_width bins; a bin is the mean (or maximum) of
// bilinear samples on a regular grid in it. In mode max the corner terms, weight times value, are compared singly: so
// does the ONNX definition. MaxRoiPool: the maximum over whole pixels per bin.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/deadline.h"
#include "base/memory.h"
#include "ops/node_error.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

constexpr int64_t kMaxSamples = 1 << 12;  // per bin side: a region cannot ask for unbounded work

// The two neighbours of a sample's position on an axis and the weight of the second.
struct Neighbours {
  int64_t low, high;
  double ratio;
};

// `count` samples spread over one bin of an axis. Those outside the axis are left out: they are 0.
std::vector<Neighbours> samples_of(double start, double bin_size, int64_t bin, int64_t count, int64_t size) {
  std::vector<Neighbours> samples;
  for (int64_t i = 0; i < count; ++i) {
    const double p =
        start + (static_cast<double>(bin) + (static_cast<double>(i) + 0.5) / static_cast<double>(count)) * bin_size;
    if (!(p >= -1 && p <= static_cast<double>(size))) continue;
    const auto low = std::min(static_cast<int64_t>(std::max(p, 0.0)), size - 1);
    if (low == size - 1) samples.push_back({low, low, 0});
    else samples.push_back({low, low + 1, std::max(p, 0.0) - static_cast<double>(low)});
  }
  return samples;
}

// Mean or maximum over the grid down x across of one plane; `wanted` samples were asked for.
double pool(const double* plane, int64_t width, const std::vector<Neighbours>& down,
            const std::vector<Neighbours>& across, int64_t wanted, bool average) {
  const auto inside = static_cast<int64_t>(down.size() * across.size());
  double sum = 0, best = inside < wanted ? 0 : -std::numeric_limits<double>::infinity();
  for (const Neighbours& v : down)
    for (const Neighbours& h : across)
      for (int k = 0; k < 4; ++k) {
        const double weight = (k < 2 ? 1 - v.ratio : v.ratio) * (k % 2 ? h.ratio : 1 - h.ratio);
        const double term = weight * plane[(k < 2 ? v.low : v.high) * width + (k % 2 ? h.high : h.low)];
        sum += term;
        best = std::max(best, term);
      }
  if (wanted == 0) return 0;
  return average ? sum / static_cast<double>(wanted) : best;
}

void infer_roi(InferContext& c, const Dim& regions, int64_t height, int64_t width) {
  if (height < 1 || width < 1)
    c.fail("output size " + std::to_string(height) + "x" + std::to_string(width) + "; it must be >= 1");
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
    c.fail("a region needs " + std::to_string(wanted) + " samples per bin side; at most " +
           std::to_string(kMaxSamples));
  return static_cast<int64_t>(std::max(wanted, 0.0));
}

// What all regions have in common.
struct RoiAlign {
  int64_t rows, columns, channels, height, width;
  double scale;
  bool half, average;

  static RoiAlign from(const EvalContext& c) {
    const std::string mode = c.attrs().string("mode", "avg");
    if (mode != "avg" && mode != "max") c.fail("mode '" + mode + "'; one of avg, max");
    const Tensor& x = c.tensor(0);
    return {c.attrs().integer("output_height", 1),
            c.attrs().integer("output_width", 1),
            x.dim(1),
            x.dim(2),
            x.dim(3),
            c.attrs().real("spatial_scale", 1),
            c.attrs().string("coordinate_transformation_mode", "half_pixel") == "half_pixel",
            mode == "avg"};
  }
};

// One region (x1, y1, x2, y2) of one picture: [channels, rows, columns].
void align_region(const EvalContext& c, const RoiAlign& a, const double* roi, const double* picture, double* y) {
  const double shift = a.half ? 0.5 : 0, left = roi[0] * a.scale - shift, top = roi[1] * a.scale - shift;
  double w = roi[2] * a.scale - shift - left, h = roi[3] * a.scale - shift - top;
  if (!a.half) {
    w = std::max(w, 1.0);
    h = std::max(h, 1.0);
  }
  const double bin_h = h / static_cast<double>(a.rows), bin_w = w / static_cast<double>(a.columns);
  const int64_t down = sample_count(c, bin_h), across = sample_count(c, bin_w);
  need_memory(static_cast<double>(a.columns) * static_cast<double>(across) * sizeof(Neighbours));
  std::vector<std::vector<Neighbours>> columns;
  for (int64_t j = 0; j < a.columns; ++j) columns.push_back(samples_of(left, bin_w, j, across, a.width));
  for (int64_t i = 0; i < a.rows; ++i) {
    const auto row = samples_of(top, bin_h, i, down, a.height);
    for (int64_t ch = 0; ch < a.channels; ++ch)
      for (int64_t j = 0; j < a.columns; ++j) {
        check_deadline();  // a bin may have millions of samples
        y[(ch * a.rows + i) * a.columns + j] = pool(picture + ch * a.height * a.width, a.width, row,
                                                    columns[static_cast<size_t>(j)], down * across, a.average);
      }
  }
}

void roi_align_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &rois = c.tensor(1);
  const auto batch = c.tensor(2).i64_values();
  if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 4 || rois.dim(0) != static_cast<int64_t>(batch.size()))
    c.fail("x is " + x.type_text() + ", rois " + rois.type_text() + "; want [N,C,H,W], [R,4] and R batch indices");
  const RoiAlign a = RoiAlign::from(c);
  const Dims dims{rois.dim(0), a.channels, a.rows, a.columns};
  std::vector<double> y(value_count(dims));
  if (!y.empty() && x.elements() == 0) c.fail("x is " + x.type_text() + "; it holds nothing to sample");
  const auto values = x.f64_values(), corners = rois.f64_values();
  for (int64_t r = 0; !y.empty() && r < rois.dim(0); ++r) {
    const int64_t n = c.checked_index(batch[static_cast<size_t>(r)], x.dim(0), "batch index");
    align_region(c, a, &corners[static_cast<size_t>(4 * r)],
                 &values[static_cast<size_t>(n * a.channels * a.height * a.width)],
                 &y[static_cast<size_t>(r * a.channels * a.rows * a.columns)]);
  }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef kRoiAlign = {.name = "roi_align",
                         .onnx = "RoiAlign",
                         .doc = "mean or maximum of bilinear samples per bin of each region",
                         .types = "Tf T x",
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
  const double from = std::floor(static_cast<double>(i) * bin) + start,
               to = std::ceil(static_cast<double>(i + 1) * bin) + start;
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
  std::vector<double> y(value_count(dims));
  const auto values = x.f64_values(), corners = rois.f64_values();
  for (int64_t r = 0; !y.empty() && r < rois.dim(0); ++r) {
    const double* roi = &corners[static_cast<size_t>(5 * r)];
    if (!std::isfinite(roi[0]) || std::fabs(roi[0]) > 1e9) c.fail("a batch index is no small integer");
    const int64_t n = c.checked_index(static_cast<int64_t>(roi[0]), x.dim(0), "batch index");
    const double left = std::round(roi[1] * scale), top = std::round(roi[2] * scale);
    const double w = std::max(std::round(roi[3] * scale) - left + 1, 1.0),
                 h = std::max(std::round(roi[4] * scale) - top + 1, 1.0);
    for (int64_t ch = 0; ch < channels; ++ch)
      for (int64_t i = 0; i < pooled[0]; ++i)
        for (int64_t j = 0; j < pooled[1]; ++j) {
          const PixelSpan down = pixel_span(i, top, h, pooled[0], height),
                          across = pixel_span(j, left, w, pooled[1], width);
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
                           .types = "Tf T",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer_max_roi_pool,
                           .reference = max_roi_pool_reference};
const RegisterOp kRegisterMaxRoiPool(kMaxRoiPool);

}  // namespace
}  // namespace trine
