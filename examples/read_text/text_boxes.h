// From a text detector's probability map to boxes around lines of text (Differentiable Binarization, Liao et al. 2020).
#pragma once

#include <array>
#include <vector>

#include "media/draw.h"
#include "media/image.h"

namespace read_text {

using trine::media::Image;
using trine::media::Point;

// A rectangle at any angle: top left, top right, bottom right, bottom left as the text reads.
struct TextBox {
  std::array<Point, 4> corners;
  double score = 0;
};

struct BoxOptions {
  float threshold = 0.3f;  // a pixel is text
  double min_score = 0.5;  // mean probability of a line
  double unclip = 1.6;     // the map shows lines shrunk; area / perimeter times this is given back on every side
  double min_side = 3;     // pixels of the map
};

// `map`: height x width probabilities. Boxes in pixels of the map, in reading order.
std::vector<TextBox> find_boxes(const float* map, int width, int height, const BoxOptions& options = {});

// The picture inside the box, turned upright.
Image rectify(const Image& image, const TextBox& box);

}  // namespace read_text
