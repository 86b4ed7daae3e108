#include "outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "media/draw.h"
#include "trine/base/error.h"

namespace trine::cli {
namespace {

bool are_probabilities(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return std::abs(sum - 1) < 1e-3 && std::all_of(values.begin(), values.end(), [](double v) { return v >= 0; });
}

void softmax(std::vector<double>& values) {
  const double top = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& v : values) sum += v = std::exp(v - top);
  for (double& v : values) v /= sum;
}

std::string tensor_text(const Tensor& t) {
  if (t.dtype() == DType::string || is_complex(t.dtype()) || t.elements() == 0) return t.type_text();
  const auto values = t.f64_values();
  if (values.size() <= 8) {
    std::string text;
    for (const double v : values) text += fmt::format(" {:.6g}", v);
    return t.type_text() + ":" + text;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const auto bad = std::count_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  return fmt::format("{}: min {:.6g}, mean {:.6g}, max {:.6g}{}", t.type_text(), *low, mean, *high,
                     bad ? fmt::format(", {} not finite", bad) : "");
}

}  // namespace

std::vector<std::string> read_labels(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw Error(ErrorCode::io, fmt::format("--labels {}: cannot open; a file of one name a line is needed", path));
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  return labels;
}

std::string label_text(const std::vector<std::string>& labels, int label) {
  const auto i = static_cast<size_t>(label);
  return i < labels.size() ? labels[i] : fmt::format("class {}", label);
}

Ranking best_classes(const Tensor& scores, size_t k) {
  const bool row = scores.rank() == 1 || (scores.rank() == 2 && scores.dim(0) == 1);
  if (!row || !is_float(scores.dtype()) || scores.elements() == 0) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--top: output {}; a classifier gives floats [classes] or [1,classes]", scores.type_text()));
  }
  auto values = scores.f64_values();
  Ranking ranking{.softmax = !are_probabilities(values)};
  if (ranking.softmax) softmax(values);
  std::vector<Ranked>& ranked = ranking.classes;
  for (size_t i = 0; i < values.size(); ++i) ranked.push_back({static_cast<int>(i), values[i]});
  k = std::min(k, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(k), ranked.end(),
                    [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  ranked.resize(k);
  return ranking;
}

std::vector<media::Box> detect(const std::vector<Tensor>& outputs, const Picture& picture,
                               const DetectOptions& options) {
  const auto raw = media::decode(media::head_from_name(options.head), outputs, picture.width, picture.height,
                                 static_cast<float>(options.min_score));
  std::vector<media::Box> boxes;
  for (const media::Box& box : media::suppress(raw, static_cast<float>(options.iou))) {
    boxes.push_back(media::to_picture(box, picture.fit, picture.image));
  }
  return boxes;
}

void draw_boxes(const std::string& path, const Picture& picture, const std::vector<media::Box>& boxes,
                const std::vector<std::string>& labels) {
  media::Image image = picture.image;
  const int scale = std::clamp(image.height / 540, 1, 6);
  for (auto box = boxes.rbegin(); box != boxes.rend(); ++box) {  // the best one last: on top
    const auto colour = media::label_colour(box->label);
    media::draw_rectangle(image, {box->x0, box->y0}, {box->x1, box->y1}, colour, scale + 1);
    media::draw_label(image, static_cast<int>(box->x0), static_cast<int>(box->y0),
                      fmt::format("{} {:.2f}", label_text(labels, box->label), box->score), colour, scale);
  }
  media::save_png(path, image);
}

std::string value_text(const Datum& value) {
  if (value.is_none()) return "none";
  if (value.is_tensor()) return tensor_text(value.tensor());
  return fmt::format("sequence of {}", value.items().size());
}

}  // namespace trine::cli
