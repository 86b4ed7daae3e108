// What `run` shows of a network's outputs: values, the best classes, boxes on the picture.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inputs.h"
#include "media/boxes.h"

namespace trine::cli {

using Json = nlohmann::ordered_json;

// One name a line. Throws Error{io}.
std::vector<std::string> read_labels(const std::string& path);
std::string label_text(const std::vector<std::string>& labels, int label);

struct Ranked {
  int label = 0;
  double score = 0;
};
struct Ranking {
  std::vector<Ranked> classes;
  bool softmax = false;  // was taken: the scores were no probabilities (none below 0, their sum 1)
};
// The k largest of a classifier's output ([classes] or [1, classes]). Throws Error{invalid_argument} for another shape.
Ranking best_classes(const Tensor& scores, size_t k);

struct DetectOptions {
  std::string head;
  double min_score = 0.25, iou = 0.45;
};
// Boxes in pixels of the picture.
std::vector<media::Box> detect(const std::vector<Tensor>& outputs, const Picture& picture,
                               const DetectOptions& options);
void draw_boxes(const std::string& path, const Picture& picture, const std::vector<media::Box>& boxes,
                const std::vector<std::string>& labels);

// " 0.25 -1 3", at most `count`, in the order of memory.
std::string first_values(const Tensor& tensor, size_t count);
// {"dtype": "f32", "shape": [1, 1000], "min": -3.1, "mean": 0.002, "max": 12.4, "not_finite": 0}, and with a `count`
// its first "values". A sequence has "items".
Json value_json(const Datum& value, size_t count);

// "f32[1,1000]: min -3.1, mean 0.002, max 12.4"
std::string value_text(const Datum& value);

}  // namespace trine::cli
