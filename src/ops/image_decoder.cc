// ImageDecoder: an encoded image (bytes) to pixels [H, W, C] u8. JPEG, PNG, BMP and PPM/PGM through stb_image, plain
// TIFF by ourselves; JPEG 2000 and WebP are refused by name.
#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/jpeg_math.h"
#include "ops/shape_rules.h"
#include "ops/tiff.h"
#include "trine/base/error.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_GIF
#define STBI_NO_PSD
#define STBI_NO_TGA
#define STBI_NO_PIC
#define STBI_MAX_DIMENSIONS (1 << 15)
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace trine {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 27;

bool starts_with(const Tensor& bytes, int64_t at, std::string_view text) {
  return bytes.elements() >= at + static_cast<int64_t>(text.size()) &&
         std::memcmp(bytes.as<char>() + at, text.data(), text.size()) == 0;
}

// stb_image's JPEG reader with our arithmetic.
stbi_uc* load_jpeg(const stbi_uc* bytes, int size, int* width, int* height, int* channels) {
  stbi__context source;
  stbi__start_mem(&source, bytes, size);
  const auto reader = std::make_unique<stbi__jpeg>();
  std::memset(static_cast<void*>(reader.get()), 0, sizeof(stbi__jpeg));
  reader->s = &source;
  stbi__setup_jpeg(reader.get());
  reader->idct_block_kernel = jpeg::inverse_dct;
  reader->resample_row_hv_2_kernel = jpeg::upsample_2x2;
  reader->YCbCr_to_RGB_kernel = jpeg::to_rgb;
  return load_jpeg_image(reader.get(), width, height, channels, 3);
}

RgbImage decode_with_stb(const EvalContext& c, const Tensor& encoded) {
  const auto* bytes = encoded.as<stbi_uc>();
  const int size = static_cast<int>(std::min<int64_t>(encoded.elements(), 1 << 30));
  int width = 0, height = 0, channels = 0;
  if (!stbi_info_from_memory(bytes, size, &width, &height, &channels))
    c.fail("the bytes are no JPEG, PNG, BMP, PPM, PGM or plain TIFF image");
  if (int64_t{width} * height > kMaxPixels)
    c.fail("the image has " + std::to_string(width) + "x" + std::to_string(height) + " pixels; at most 2^27");
  stbi_uc* pixels = starts_with(encoded, 0, "\xff\xd8")
                        ? load_jpeg(bytes, size, &width, &height, &channels)
                        : stbi_load_from_memory(bytes, size, &width, &height, &channels, 3);
  if (!pixels) c.fail(std::string("the image is damaged: ") + stbi_failure_reason());
  RgbImage image{width, height, std::vector<uint8_t>(pixels, pixels + int64_t{3} * width * height)};
  stbi_image_free(pixels);
  return image;
}

RgbImage decode(const EvalContext& c, const Tensor& encoded) {
  if (starts_with(encoded, 8, "WEBP"))
    throw Error(ErrorCode::unsupported, "image_decoder: the image is WebP; convert it to PNG or JPEG");
  if (starts_with(encoded, 4, "jP  ") || starts_with(encoded, 0, "\xff\x4f\xff\x51"))
    throw Error(ErrorCode::unsupported, "image_decoder: the image is JPEG 2000; convert it to PNG or JPEG");
  if (auto image = decode_tiff({encoded.as<uint8_t>(), static_cast<size_t>(encoded.elements())}))
    return std::move(*image);
  return decode_with_stb(c, encoded);
}

std::string pixel_format(const Attrs& attrs) { return attrs.string("pixel_format", "RGB"); }

void infer_image_decoder(InferContext& c) {
  c.need_rank(0, 1);
  c.set(0, DType::u8, {c.fresh("height"), c.fresh("width"), pixel_format(c.attrs()) == "Grayscale" ? 1 : 3});
}

void image_decoder_reference(EvalContext& c) {
  const Tensor& encoded = c.tensor(0);
  const std::string format = pixel_format(c.attrs());
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    c.fail("pixel_format '" + format + "'; one of RGB, BGR, Grayscale");
  if (encoded.rank() != 1 || encoded.dtype() != DType::u8) c.fail("x is " + encoded.type_text() + "; it must be u8[n]");
  RgbImage image = decode(c, encoded);
  auto& p = image.pixels;
  if (format == "BGR")
    for (size_t i = 0; i < p.size(); i += 3) std::swap(p[i], p[i + 2]);
  if (format != "Grayscale") return c.set(0, Tensor::of<uint8_t>(DType::u8, {image.height, image.width, 3}, p));
  std::vector<uint8_t> gray;  // ITU-R 601 luma in 16-bit fixed point
  for (size_t i = 0; i < p.size(); i += 3)
    gray.push_back(static_cast<uint8_t>((p[i] * 19595 + p[i + 1] * 38470 + p[i + 2] * 7471 + 0x8000) >> 16));
  c.set(0, Tensor::of<uint8_t>(DType::u8, {image.height, image.width, 1}, gray));
}

const OpDef kImageDecoder = {.name = "image_decoder",
                             .onnx = "ImageDecoder",
                             .doc = "pixels [H,W,C] of an encoded image",
                             .types = "i",
                             .infer = infer_image_decoder,
                             .reference = image_decoder_reference};
const RegisterOp kRegisterImageDecoder(kImageDecoder);

}  // namespace
}  // namespace trine
