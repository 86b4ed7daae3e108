#include "media/boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trine/base/error.h"

namespace trine::media {
namespace {

struct HeadRow {
  Head head;
  const char* name;
  const char* layout;
};
constexpr HeadRow kHeads[] = {
    {Head::yolov5, "yolov5", "one output f32[1,n,5+classes]"},
    {Head::yolov8, "yolov8", "one output f32[1,4+classes,n]"},
    {Head::xyxy, "xyxy", "one output f32[1,n,6]"},
    {Head::picodet, "picodet", "score outputs f32[1,n,classes] and as many distance outputs f32[1,n,4*bins]"}};

[[noreturn]] void wrong_layout(Head head, const std::vector<Tensor>& outputs) {
  std::string got;
  for (const Tensor& t : outputs) got += (got.empty() ? "" : ", ") + t.type_text();
  const HeadRow& row = kHeads[static_cast<int>(head)];
  throw Error(ErrorCode::invalid_argument, fmt::format("head {}: outputs {}; it needs {}", row.name, got, row.layout));
}

bool is_batch_of_rows(const Tensor& t) { return t.dtype() == DType::f32 && t.rank() == 3 && t.dim(0) == 1; }

const Tensor& only_output(Head head, const std::vector<Tensor>& outputs, int64_t min_rows_axis1, int64_t min_axis2) {
  if (outputs.size() != 1 || !is_batch_of_rows(outputs[0]) || outputs[0].dim(1) < min_rows_axis1 ||
      outputs[0].dim(2) < min_axis2) {
    wrong_layout(head, outputs);
  }
  return outputs[0];
}

Box from_centre(float x, float y, float w, float h, float score, int label) {
  return {x - w / 2, y - h / 2, x + w / 2, y + h / 2, score, label};
}

// The best of `count` scores that lie `step` apart.
int best_of(const float* scores, int64_t count, int64_t step) {
  int64_t best = 0;
  for (int64_t c = 1; c < count; ++c) {
    if (scores[c * step] > scores[best * step]) best = c;
  }
  return static_cast<int>(best);
}

std::vector<Box> decode_yolov5(const Tensor& t, float min_score) {
  std::vector<Box> boxes;
  const int64_t n = t.dim(1), width = t.dim(2);
  for (int64_t i = 0; i < n; ++i) {
    const float* row = t.as<float>() + i * width;
    const int label = best_of(row + 5, width - 5, 1);
    const float score = row[4] * row[5 + label];
    if (score >= min_score) boxes.push_back(from_centre(row[0], row[1], row[2], row[3], score, label));
  }
  return boxes;
}

std::vector<Box> decode_yolov8(const Tensor& t, float min_score) {
  std::vector<Box> boxes;
  const int64_t classes = t.dim(1) - 4, n = t.dim(2);
  for (int64_t i = 0; i < n; ++i) {
    const float* at = t.as<float>() + i;
    const int label = best_of(at + 4 * n, classes, n);
    const float score = at[(4 + label) * n];
    if (score >= min_score) boxes.push_back(from_centre(at[0], at[n], at[2 * n], at[3 * n], score, label));
  }
  return boxes;
}

std::vector<Box> decode_xyxy(const Tensor& t, float min_score) {
  std::vector<Box> boxes;
  for (int64_t i = 0; i < t.dim(1); ++i) {
    const float* row = t.as<float>() + i * t.dim(2);
    const int label = row[5] >= 0 && row[5] < 1e6f ? static_cast<int>(row[5]) : 0;
    if (row[4] >= min_score) boxes.push_back({row[0], row[1], row[2], row[3], row[4], label});
  }
  return boxes;
}

// Expected distance under a softmax over `bins` whole distances (Generalized Focal Loss, Li 2020).
float expected_distance(const float* logits, int64_t bins) {
  const float top = *std::max_element(logits, logits + bins);
  float sum = 0, weighted = 0;
  for (int64_t b = 0; b < bins; ++b) {
    const float e = std::exp(logits[b] - top);
    sum += e;
    weighted += e * static_cast<float>(b);
  }
  return weighted / sum;
}

// One level of a PicoDet head: cells of `stride` pixels, row by row.
void decode_level(const Tensor& scores, const Tensor& distances, int columns, float stride, float min_score,
                  std::vector<Box>& boxes) {
  const int64_t classes = scores.dim(2), bins = distances.dim(2) / 4;
  for (int64_t i = 0; i < scores.dim(1); ++i) {
    const float* row = scores.as<float>() + i * classes;
    const int label = best_of(row, classes, 1);
    if (row[label] < min_score) continue;
    const float x = (static_cast<float>(i % columns) + 0.5f) * stride;
    const float y = (static_cast<float>(i / columns) + 0.5f) * stride;
    float d[4];
    for (int k = 0; k < 4; ++k) {
      d[k] = expected_distance(distances.as<float>() + (i * 4 + k) * bins, bins) * stride;
    }
    boxes.push_back({x - d[0], y - d[1], x + d[2], y + d[3], row[label], label});
  }
}

std::vector<Box> decode_picodet(const std::vector<Tensor>& outputs, int width, int height, float min_score) {
  const size_t levels = outputs.size() / 2;
  if (outputs.empty() || outputs.size() % 2) wrong_layout(Head::picodet, outputs);
  std::vector<Box> boxes;
  for (size_t level = 0; level < levels; ++level) {
    const Tensor &scores = outputs[level], &distances = outputs[levels + level];
    const int stride = 8 << level;
    const int columns = (width + stride - 1) / stride, rows = (height + stride - 1) / stride;
    if (level > 8 || !is_batch_of_rows(scores) || !is_batch_of_rows(distances) || scores.dim(2) < 1 ||
        distances.dim(2) < 4 || distances.dim(2) % 4 || scores.dim(1) != int64_t{columns} * rows ||
        distances.dim(1) != scores.dim(1)) {
      wrong_layout(Head::picodet, outputs);
    }
    decode_level(scores, distances, columns, static_cast<float>(stride), min_score, boxes);
  }
  return boxes;
}

float overlap(const Box& a, const Box& b) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (w <= 0 || h <= 0) return 0;
  const float both = w * h;
  return both / ((a.x1 - a.x0) * (a.y1 - a.y0) + (b.x1 - b.x0) * (b.y1 - b.y0) - both);
}

}  // namespace

Head head_from_name(const std::string& name) {
  for (const HeadRow& row : kHeads) {
    if (name == row.name) return row.head;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("--head: {}; accepted: {}", name, head_names()));
}

std::string head_names() {
  std::string names;
  for (const HeadRow& row : kHeads) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

std::vector<Box> decode(Head head, const std::vector<Tensor>& outputs, int width, int height, float min_score) {
  std::vector<Box> boxes;
  switch (head) {
    case Head::yolov5: boxes = decode_yolov5(only_output(head, outputs, 0, 6), min_score); break;
    case Head::yolov8: boxes = decode_yolov8(only_output(head, outputs, 5, 0), min_score); break;
    case Head::xyxy: boxes = decode_xyxy(only_output(head, outputs, 0, 6), min_score); break;
    case Head::picodet: boxes = decode_picodet(outputs, width, height, min_score); break;
  }
  std::erase_if(boxes, [](const Box& b) {  // NaN compares false, so it goes too
    return !(b.x1 > b.x0 && b.y1 > b.y0 && std::isfinite(b.x1 - b.x0) && std::isfinite(b.y1 - b.y0));
  });
  std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.score > b.score; });
  return boxes;
}

std::vector<Box> suppress(std::vector<Box> boxes, float iou, size_t most) {
  std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box& box : boxes) {
    if (kept.size() == most) break;
    const bool doubled = std::any_of(kept.begin(), kept.end(), [&](const Box& better) {
      return better.label == box.label && overlap(better, box) > iou;
    });
    if (!doubled) kept.push_back(box);
  }
  return kept;
}

Box to_picture(const Box& box, const Fit& fit, const Image& picture) {
  const auto x = [&](float v) {
    return static_cast<float>(std::clamp((v - fit.left) / fit.scale_x, 0.0, static_cast<double>(picture.width)));
  };
  const auto y = [&](float v) {
    return static_cast<float>(std::clamp((v - fit.top) / fit.scale_y, 0.0, static_cast<double>(picture.height)));
  };
  return {x(box.x0), y(box.y0), x(box.x1), y(box.y1), box.score, box.label};
}

}  // namespace trine::media
