// A small face of our own: 5x7 pixels, ASCII.
#pragma once

namespace trine::media {

constexpr int kGlyphWidth = 5;
constexpr int kGlyphHeight = 7;

// Seven rows of five, '#' where there is ink, a separator after each row. A character without a picture is a box.
const char* glyph(char c);

}  // namespace trine::media
