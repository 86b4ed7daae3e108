// Source: TIFF 6.0, sections 2 (structure) and 7 (baseline).
#include "ops/tiff.h"

#include <map>

namespace trine {
namespace {

class TiffReader {
 public:
  explicit TiffReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool open() {
    if (bytes_.size() < 8 || bytes_[0] != bytes_[1] || (bytes_[0] != 'I' && bytes_[0] != 'M')) return false;
    big_endian_ = bytes_[0] == 'M';
    return number(2, 2) == 42 && read_directory(number(4, 4));
  }

  // Entry k of a tag's values, `otherwise` when the tag is absent.
  uint64_t value(int tag, uint64_t otherwise, uint64_t k = 0) const {
    const auto found = fields_.find(tag);
    if (found == fields_.end() || k >= found->second.count) return otherwise;
    return number(found->second.at + k * found->second.size, found->second.size);
  }

  uint64_t count(int tag) const {
    const auto found = fields_.find(tag);
    return found == fields_.end() ? 0 : found->second.count;
  }

 private:
  struct Field {
    uint64_t at, count;
    int size;
  };

  // Zero past the end: every caller checks ranges that matter.
  uint64_t number(uint64_t at, int size) const {
    if (at + static_cast<uint64_t>(size) > bytes_.size()) return 0;
    uint64_t v = 0;
    for (int i = 0; i < size; ++i) {
      const uint64_t byte = bytes_[at + static_cast<uint64_t>(i)];
      v = big_endian_ ? v << 8 | byte : v | byte << (8 * i);
    }
    return v;
  }

  bool read_directory(uint64_t at) {
    const uint64_t entries = number(at, 2);
    if (at + 2 + 12 * entries > bytes_.size()) return false;
    for (uint64_t i = 0; i < entries; ++i) {
      const uint64_t entry = at + 2 + 12 * i, type = number(entry + 2, 2), count = number(entry + 4, 4);
      const int size = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
      if (size == 0) continue;
      const uint64_t total = count * static_cast<uint64_t>(size);
      const uint64_t where = total <= 4 ? entry + 8 : number(entry + 8, 4);
      if (where + total <= bytes_.size()) fields_[static_cast<int>(number(entry, 2))] = {where, count, size};
    }
    return true;
  }

  std::span<const uint8_t> bytes_;
  bool big_endian_ = false;
  std::map<int, Field> fields_;
};

enum Tag {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kCompression = 259,
  kPhotometric = 262,
  kStripOffsets = 273,
  kSamples = 277,
  kRowsPerStrip = 278,
  kStripBytes = 279,
  kPlanar = 284
};

}  // namespace

std::optional<RgbImage> decode_tiff(std::span<const uint8_t> bytes) {
  TiffReader tiff(bytes);
  if (!tiff.open()) return std::nullopt;
  const uint64_t width = tiff.value(kWidth, 0), height = tiff.value(kHeight, 0), samples = tiff.value(kSamples, 1);
  const uint64_t kind = tiff.value(kPhotometric, 9);
  const bool gray = kind <= 1 && samples == 1, rgb = kind == 2 && (samples == 3 || samples == 4);
  const bool plain = tiff.value(kBits, 1) == 8 && tiff.value(kCompression, 1) == 1 && tiff.value(kPlanar, 1) == 1;
  // Uncompressed: the file is as large as the image, which bounds what is allocated.
  if (!(gray || rgb) || !plain || width == 0 || height == 0 || width > bytes.size() || height > bytes.size() ||
      width * height > bytes.size())
    return std::nullopt;
  RgbImage image{static_cast<int64_t>(width), static_cast<int64_t>(height), {}};
  for (uint64_t strip = 0; strip < tiff.count(kStripOffsets); ++strip) {
    const uint64_t at = tiff.value(kStripOffsets, 0, strip), size = tiff.value(kStripBytes, 0, strip);
    if (at + size > bytes.size()) return std::nullopt;
    for (uint64_t i = 0; i + samples <= size; i += samples)
      for (uint64_t k = 0; k < 3; ++k) {
        const uint8_t v = bytes[at + i + (gray ? 0 : k)];
        image.pixels.push_back(kind == 0 ? static_cast<uint8_t>(255 - v) : v);
      }
  }
  if (image.pixels.size() != 3 * width * height) return std::nullopt;
  return image;
}

}  // namespace trine
