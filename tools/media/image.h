// Pictures: 8-bit RGB in memory, read from JPEG or PNG, written as PNG, resized, and turned into a network's input.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trine/base/tensor.h"

namespace trine::media {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  // rows of r, g, b

  Image() = default;
  Image(int width, int height, std::array<uint8_t, 3> colour = {0, 0, 0});
  uint8_t* at(int x, int y) {
    return &pixels[(static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3];
  }
  const uint8_t* at(int x, int y) const { return const_cast<Image*>(this)->at(x, y); }
};

// True for a path that ends in .jpg, .jpeg or .png, in any case.
bool is_image_path(const std::string& path);

// Throws Error: io when it cannot be read, invalid_argument when it is no picture or larger than its bytes justify.
Image load_image(const std::string& path);
void save_png(const std::string& path, const Image& image);

// Triangle filter over half-pixel centres: bilinear when growing, averaging all covered pixels when shrinking.
Image resize(const Image& image, int width, int height);

// How a picture was fitted: x_network = x_picture * scale_x + left, and the same for y.
struct Fit {
  double scale_x = 1, scale_y = 1;
  double left = 0, top = 0;
};
enum class FitMode { stretch, letterbox, crop };

// Fits the picture into width x height: stretched; or scaled as a whole and padded with grey 114 (letterbox); or scaled
// until it covers, and cut around the middle (crop).
Image fit(const Image& image, int width, int height, FitMode mode, Fit* how = nullptr);

struct Normalise {
  std::array<float, 3> mean = {0, 0, 0};  // of values in [0, 1]
  std::array<float, 3> std = {1, 1, 1};
  float scale = 1.0f / 255;    // pixel to value
  bool bgr = false;            // channel order of the network
  bool channels_last = false;  // 1,h,w,3 instead of 1,3,h,w
};

// f32[1,3,h,w]: (pixel * scale - mean) / std.
Tensor to_tensor(const Image& image, const Normalise& normalise = {});

}  // namespace trine::media
