#include "media/draw.h"

#include <algorithm>
#include <cmath>

#include "media/font.h"

namespace trine::media {
namespace {

constexpr int kAdvance = kGlyphWidth + 1;

void fill(Image& image, int x0, int y0, int x1, int y1, Colour colour) {
  for (int y = std::max(0, y0); y < std::min(y1, image.height); ++y) {
    for (int x = std::max(0, x0); x < std::min(x1, image.width); ++x) std::copy_n(colour.begin(), 3, image.at(x, y));
  }
}

// Characters of UTF-8 text: each byte that does not continue another begins one.
int character_count(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void draw_glyph(Image& image, int x, int y, const char* rows, Colour colour, int scale) {
  for (int row = 0; row < kGlyphHeight; ++row) {
    for (int column = 0; column < kGlyphWidth; ++column) {
      if (rows[row * (kGlyphWidth + 1) + column] != '#') continue;
      fill(image, x + column * scale, y + row * scale, x + (column + 1) * scale, y + (row + 1) * scale, colour);
    }
  }
}

}  // namespace

Colour label_colour(int label) {
  constexpr Colour kColours[] = {{230, 25, 75}, {0, 130, 200},  {60, 180, 75}, {245, 130, 48}, {145, 30, 180},
                                 {0, 128, 128}, {240, 50, 230}, {128, 128, 0}, {170, 110, 40}, {0, 0, 160}};
  return kColours[static_cast<unsigned>(label) % std::size(kColours)];
}

void draw_line(Image& image, Point from, Point to, Colour colour, int thickness) {
  const double length = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
  const double longest = 4.0 * (image.width + image.height);  // a line far outside is not worth its steps
  if (!(length <= longest)) return;
  const int steps = std::max(1, static_cast<int>(std::ceil(length)));
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    const int x = static_cast<int>(std::lround(from.x + (to.x - from.x) * t)) - thickness / 2;
    const int y = static_cast<int>(std::lround(from.y + (to.y - from.y) * t)) - thickness / 2;
    fill(image, x, y, x + thickness, y + thickness, colour);
  }
}

void draw_polygon(Image& image, const std::vector<Point>& points, Colour colour, int thickness) {
  for (size_t i = 0; i < points.size(); ++i) {
    draw_line(image, points[i], points[(i + 1) % points.size()], colour, thickness);
  }
}

void draw_rectangle(Image& image, Point corner, Point opposite, Colour colour, int thickness) {
  draw_polygon(image, {corner, {opposite.x, corner.y}, opposite, {corner.x, opposite.y}}, colour, thickness);
}

int draw_text(Image& image, int x, int y, std::string_view text, Colour colour, int scale) {
  int at = x;
  for (const char c : text) {
    if ((c & 0xC0) == 0x80) continue;
    draw_glyph(image, at, y, glyph(c), colour, scale);
    at += kAdvance * scale;
  }
  return at - x;
}

int text_width(std::string_view text, int scale) { return character_count(text) * kAdvance * scale; }

void draw_label(Image& image, int x, int y, std::string_view text, Colour background, int scale) {
  const int width = text_width(text, scale) + scale, height = (kGlyphHeight + 2) * scale;
  x = std::clamp(x, 0, std::max(0, image.width - width));
  y = std::clamp(y - height, 0, std::max(0, image.height - height));
  fill(image, x, y, x + width, y + height, background);
  draw_text(image, x + scale, y + scale, text, {255, 255, 255}, scale);
}

}  // namespace trine::media
