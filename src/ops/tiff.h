// Reader of plain TIFF: uncompressed strips of 8-bit gray or RGB(A) pixels, either byte order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trine {

struct RgbImage {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> pixels;  // 3 per pixel
};

// Nothing when the bytes are no TIFF, or one of another kind (compressed, tiled, 16 bits, ...).
std::optional<RgbImage> decode_tiff(std::span<const uint8_t> bytes);

}  // namespace trine
