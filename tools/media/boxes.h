// Detections: a network's raw outputs to boxes, and the removal of doubles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "media/image.h"
#include "trine/base/tensor.h"

namespace trine::media {

struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // pixels
  float score = 0;
  int label = 0;
};

// Layouts of a detector's head. Coordinates are pixels of the network's input.
//   yolov5   one output [1, n, 5 + classes]: centre, size, objectness, class scores
//   yolov8   one output [1, 4 + classes, n]: centre, size, class scores
//   xyxy     one output [1, n, 6]: two corners, score, label; doubles already removed
//   picodet  per level a score output [1, n, classes] and a distance output [1, n, 4 * bins], levels from fine to
//   coarse
enum class Head { yolov5, yolov8, xyxy, picodet };

// "yolov5", ...; throws Error{invalid_argument} naming the layouts there are.
Head head_from_name(const std::string& name);
std::string head_names();

// Boxes of at least `min_score`, best first. `outputs` in the model's order; width and height of the network's input.
// Throws Error{invalid_argument} when the outputs do not have the layout.
std::vector<Box> decode(Head head, const std::vector<Tensor>& outputs, int width, int height, float min_score);

// Keeps the best box of each group that overlaps by more than `iou` (intersection over union) with the same label.
std::vector<Box> suppress(std::vector<Box> boxes, float iou, size_t most = 300);

// From the network's input back to the picture that was fitted into it.
Box to_picture(const Box& box, const Fit& fit, const Image& picture);

}  // namespace trine::media
