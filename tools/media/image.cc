#include "media/image.h"

#include <fmt/format.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "media/file.h"
#include "trine/base/error.h"

namespace trine::media {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 27;
constexpr uint8_t kGrey = 114;  // what YOLO networks were trained to see around a picture

// Deflate packs at most 1032 to 1 and a JPEG spends over a bit on each 8x8 block: a picture that claims more pixels
// than this per byte is not one, and must not make the reader allocate them.
constexpr int64_t kMaxPixelsPerByte = 3000;

// The taps of one output coordinate: input[first + i] * weight[i].
struct Taps {
  int first = 0;
  std::vector<float> weight;
};

std::vector<Taps> triangle_taps(int in, int out) {
  std::vector<Taps> taps(static_cast<size_t>(out));
  const double scale = static_cast<double>(in) / out;
  const double radius = std::max(scale, 1.0);
  for (int o = 0; o < out; ++o) {
    const double centre = (o + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - radius)));
    const int last = std::min(in, static_cast<int>(std::ceil(centre + radius)));
    Taps& t = taps[static_cast<size_t>(o)];
    t.first = first;
    double sum = 0;
    for (int i = first; i < last; ++i) {
      const double w = std::max(0.0, 1.0 - std::abs((i + 0.5 - centre) / radius));
      t.weight.push_back(static_cast<float>(w));
      sum += w;
    }
    for (float& w : t.weight) w = static_cast<float>(w / sum);
  }
  return taps;
}

// Rows to `width` columns, kept as float so that only the second pass rounds.
std::vector<float> resize_rows(const Image& image, int width) {
  const auto taps = triangle_taps(image.width, width);
  std::vector<float> out(static_cast<size_t>(width) * static_cast<size_t>(image.height) * 3);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Taps& t = taps[static_cast<size_t>(x)];
      const uint8_t* in = image.at(t.first, y);
      float* to = &out[(static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3];
      for (size_t i = 0; i < t.weight.size(); ++i) {
        for (int c = 0; c < 3; ++c) to[c] += t.weight[i] * in[i * 3 + static_cast<size_t>(c)];
      }
    }
  }
  return out;
}

Image paste(const Image& image, int width, int height, int left, int top) {
  Image out(width, height, {kGrey, kGrey, kGrey});
  for (int y = std::max(0, -top); y < image.height && y + top < height; ++y) {
    const int x = std::max(0, -left);
    const int count = std::min(image.width - x, width - (x + left));
    if (count > 0) std::copy_n(image.at(x, y), count * 3, out.at(x + left, y + top));
  }
  return out;
}

}  // namespace

Image::Image(int w, int h, std::array<uint8_t, 3> colour)
    : width(w), height(h), pixels(static_cast<size_t>(w) * static_cast<size_t>(h) * 3) {
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = colour[i % 3];
}

bool is_image_path(const std::string& path) {
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.ends_with(".jpg") || lower.ends_with(".jpeg") || lower.ends_with(".png");
}

Image load_image(const std::string& path) {
  const auto bytes = read_file(path, size_t{1} << 29);
  const int size = static_cast<int>(bytes.size());
  int width = 0, height = 0, channels = 0;
  if (!stbi_info_from_memory(bytes.data(), size, &width, &height, &channels)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: not a picture ({}); JPEG and PNG are read", path, stbi_failure_reason()));
  }
  const int64_t count = int64_t{width} * height;
  if (count > kMaxPixels || count > kMaxPixelsPerByte * (size + 1024)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}x{} pixels in {} bytes; at most {} pixels, {} per byte",
                                                         path, width, height, size, kMaxPixels, kMaxPixelsPerByte));
  }
  stbi_uc* decoded = stbi_load_from_memory(bytes.data(), size, &width, &height, &channels, 3);
  if (!decoded) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: damaged picture ({}); save it again", path, stbi_failure_reason()));
  }
  Image image;
  image.width = width;
  image.height = height;
  image.pixels.assign(decoded, decoded + count * 3);
  stbi_image_free(decoded);
  return image;
}

void save_png(const std::string& path, const Image& image) {
  std::vector<uint8_t> bytes;
  const auto append = [](void* to, void* data, int size) {
    auto* out = static_cast<std::vector<uint8_t>*>(to);
    out->insert(out->end(), static_cast<uint8_t*>(data), static_cast<uint8_t*>(data) + size);
  };
  if (!stbi_write_png_to_func(append, &bytes, image.width, image.height, 3, image.pixels.data(), image.width * 3)) {
    throw Error(ErrorCode::out_of_memory, fmt::format("{}: cannot pack a {}x{} picture; a smaller one is needed", path,
                                                      image.width, image.height));
  }
  write_file(path, bytes);
}

Image resize(const Image& image, int width, int height) {
  if (width < 1 || height < 1 || image.width < 1 || image.height < 1 || int64_t{width} * height > kMaxPixels) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("resize: {}x{} to {}x{}; sides of at least 1 and at most {} pixels", image.width,
                            image.height, width, height, kMaxPixels));
  }
  const auto rows = resize_rows(image, width);
  const auto taps = triangle_taps(image.height, height);
  const size_t pitch = static_cast<size_t>(width) * 3;
  Image out(width, height);
  std::vector<float> sum(pitch);
  for (int y = 0; y < height; ++y) {
    const Taps& t = taps[static_cast<size_t>(y)];
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t i = 0; i < t.weight.size(); ++i) {
      const float* in = &rows[(static_cast<size_t>(t.first) + i) * pitch];
      for (size_t x = 0; x < pitch; ++x) sum[x] += t.weight[i] * in[x];
    }
    uint8_t* to = out.at(0, y);
    for (size_t x = 0; x < pitch; ++x) to[x] = static_cast<uint8_t>(std::clamp(std::lround(sum[x]), 0l, 255l));
  }
  return out;
}

Image fit(const Image& image, int width, int height, FitMode mode, Fit* how) {
  const double sx = static_cast<double>(width) / image.width, sy = static_cast<double>(height) / image.height;
  Fit used{sx, sy, 0, 0};
  Image out;
  if (mode == FitMode::stretch) {
    out = resize(image, width, height);
  } else {
    const double scale = mode == FitMode::letterbox ? std::min(sx, sy) : std::max(sx, sy);
    const int w = std::max(1, static_cast<int>(std::lround(image.width * scale)));
    const int h = std::max(1, static_cast<int>(std::lround(image.height * scale)));
    const int left = (width - w) / 2, top = (height - h) / 2;
    used = {static_cast<double>(w) / image.width, static_cast<double>(h) / image.height, static_cast<double>(left),
            static_cast<double>(top)};
    out = paste(resize(image, w, h), width, height, left, top);
  }
  if (how) *how = used;
  return out;
}

Tensor to_tensor(const Image& image, const Normalise& normalise) {
  const int64_t h = image.height, w = image.width, plane = h * w;
  Tensor out(DType::f32, normalise.channels_last ? Dims{1, h, w, 3} : Dims{1, 3, h, w});
  float* to = out.mutable_as<float>();
  for (int64_t i = 0; i < plane; ++i) {
    for (int c = 0; c < 3; ++c) {
      const uint8_t pixel = image.pixels[static_cast<size_t>(i * 3 + (normalise.bgr ? 2 - c : c))];
      const size_t k = static_cast<size_t>(c);
      const float value = (static_cast<float>(pixel) * normalise.scale - normalise.mean[k]) / normalise.std[k];
      to[normalise.channels_last ? i * 3 + c : c * plane + i] = value;
    }
  }
  return out;
}

}  // namespace trine::media
