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

constexpr int64_t kFewValues = 8;  // so many are shown whole

template <class T>
std::vector<T> head(std::vector<T> values, size_t count) {
  values.resize(std::min(values.size(), count));
  return values;
}

bool has_numbers(const Tensor& t) { return t.dtype() != DType::string && !is_complex(t.dtype()) && t.elements() > 0; }

// Of the finite elements.
struct Spread {
  double min = 0, max = 0, mean = 0;
  int64_t not_finite = 0;
};
Spread spread_of(const Tensor& t) {
  Spread s;
  int64_t finite = 0;
  for (const double v : t.f64_values()) {
    if (!std::isfinite(v)) {
      ++s.not_finite;
      continue;
    }
    s.min = finite ? std::min(s.min, v) : v;
    s.max = finite ? std::max(s.max, v) : v;
    s.mean += (v - s.mean) / static_cast<double>(++finite);
  }
  return s;
}

std::string tensor_text(const Tensor& t) {
  if (!has_numbers(t)) return t.type_text();
  if (t.elements() <= kFewValues) return t.type_text() + ":" + first_values(t, kFewValues);
  const Spread s = spread_of(t);
  return fmt::format("{}: min {:.6g}, mean {:.6g}, max {:.6g}{}", t.type_text(), s.min, s.mean, s.max,
                     s.not_finite ? fmt::format(", {} not finite", s.not_finite) : "");
}

Json tensor_json(const Tensor& t, size_t count) {
  Json json = {{"dtype", std::string(name(t.dtype()))}, {"shape", t.dims()}};
  if (has_numbers(t)) {
    const Spread s = spread_of(t);
    json.update({{"min", s.min}, {"mean", s.mean}, {"max", s.max}, {"not_finite", s.not_finite}});
  }
  if (count == 0 || is_complex(t.dtype())) return json;
  const size_t shown = std::min(count, static_cast<size_t>(t.elements()));
  Json& values = json["values"] = Json::array();
  if (t.dtype() == DType::string) {
    for (size_t i = 0; i < shown; ++i) values.push_back(t.strings()[i]);
  } else if (is_integer(t.dtype())) {
    for (const int64_t v : head(t.i64_values(), shown)) values.push_back(v);
  } else if (t.dtype() == DType::boolean) {
    for (const int64_t v : head(t.i64_values(), shown)) values.push_back(v != 0);
  } else {
    for (const double v : head(t.f64_values(), shown)) values.push_back(v);  // nan and infinities become null
  }
  return json;
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

std::string first_values(const Tensor& t, size_t count) {
  std::string text;
  if (t.dtype() == DType::string) {
    for (size_t i = 0; i < std::min(count, t.strings().size()); ++i) text += fmt::format(" '{}'", t.strings()[i]);
  } else if (is_integer(t.dtype()) || t.dtype() == DType::boolean) {  // 64 bits do not fit a double
    for (const int64_t v : head(t.i64_values(), count))
      text += t.dtype() == DType::u64 ? fmt::format(" {}", static_cast<uint64_t>(v)) : fmt::format(" {}", v);
  } else if (!is_complex(t.dtype())) {
    for (const double v : head(t.f64_values(), count)) text += fmt::format(" {:.6g}", v);
  }
  return text;
}

Json value_json(const Datum& value, size_t count) {
  if (value.is_none()) return {{"kind", "none"}};
  if (value.is_tensor()) return tensor_json(value.tensor(), count);
  Json items = Json::array();
  for (const Datum& item : value.items()) items.push_back(value_json(item, count));
  return {{"kind", "sequence"}, {"items", items}};
}

std::string value_text(const Datum& value) {
  if (value.is_none()) return "none";
  if (value.is_tensor()) return tensor_text(value.tensor());
  return fmt::format("sequence of {}", value.items().size());
}

}  // namespace trine::cli
