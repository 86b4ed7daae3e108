// The arithmetic of JPEG decoding as libjpeg does it ("islow" transform, smooth chroma upsampling, 16-bit colour
// constants), so that pixels agree with other decoders to the bit. In the form that stb_image calls.
#pragma once

#include <cstdint>

namespace trine::jpeg {

// Inverse cosine transform of 8x8 dequantised coefficients, +128, clamped.
void inverse_dct(uint8_t* out, int stride, short coefficients[64]);

// 2x2 upsampling of one row of `width` samples between the rows `near` and `far`; writes 2 * width.
uint8_t* upsample_2x2(uint8_t* out, uint8_t* near, uint8_t* far, int width, int);

// Luma and chroma to RGB, `step` bytes a pixel.
void to_rgb(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int count, int step);

}  // namespace trine::jpeg
