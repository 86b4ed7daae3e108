// Marks on a picture: lines, outlines and labels.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "media/image.h"

namespace trine::media {

using Colour = std::array<uint8_t, 3>;
struct Point {
  double x = 0, y = 0;
};

// A colour for a label number; neighbouring numbers differ clearly.
Colour label_colour(int label);

void draw_line(Image& image, Point from, Point to, Colour colour, int thickness = 2);
// Closed: the last point joins the first.
void draw_polygon(Image& image, const std::vector<Point>& points, Colour colour, int thickness = 2);
void draw_rectangle(Image& image, Point corner, Point opposite, Colour colour, int thickness = 2);

// Text in a 5x7 pixel face, each pixel `scale` wide; characters outside ASCII show as a box. Returns the width drawn.
int draw_text(Image& image, int x, int y, std::string_view text, Colour colour, int scale = 2);
// Text on a filled background, moved so that it lies inside the picture.
void draw_label(Image& image, int x, int y, std::string_view text, Colour background, int scale = 2);
int text_width(std::string_view text, int scale);

}  // namespace trine::media
