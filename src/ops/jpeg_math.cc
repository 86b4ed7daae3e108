// Sources: Loeffler, Ligtenberg & Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications" (1989);
// JFIF 1.02.
#include "ops/jpeg_math.h"

#include <algorithm>

namespace trine::jpeg {
namespace {

constexpr int kFraction = 13, kExtra = 2;  // bits of the constants; bits kept between the passes

uint8_t clamped(int v) { return static_cast<uint8_t>(std::clamp(v, 0, 255)); }

// One 8-point transform of x[0], x[step], ...; results rounded to `shift` fewer bits.
void transform(const int* x, int step, int shift, int* y) {
  const auto at = [&](int i) { return int64_t{x[i * step]}; };
  const int64_t z = (at(2) + at(6)) * 4433;
  const int64_t even[2] = {z + at(2) * 6270, z - at(6) * 15137};
  const int64_t sum = (at(0) + at(4)) * (1 << kFraction), difference = (at(0) - at(4)) * (1 << kFraction);
  const int64_t head[4] = {sum + even[0], difference + even[1], difference - even[1], sum - even[0]};
  const int64_t a = at(7), b = at(5), c = at(3), d = at(1);
  const int64_t z5 = (a + c + b + d) * 9633;
  const int64_t z1 = -(a + d) * 7373, z2 = -(b + c) * 20995, z3 = z5 - (a + c) * 16069, z4 = z5 - (b + d) * 3196;
  const int64_t tail[4] = {d * 12299 + z1 + z4, c * 25172 + z2 + z3, b * 16819 + z2 + z4, a * 2446 + z1 + z3};
  const int64_t half = int64_t{1} << (shift - 1);
  for (int i = 0; i < 4; ++i) {
    y[i * step] = static_cast<int>((head[i] + tail[i] + half) >> shift);
    y[(7 - i) * step] = static_cast<int>((head[i] - tail[i] + half) >> shift);
  }
}

}  // namespace

void inverse_dct(uint8_t* out, int stride, short coefficients[64]) {
  int x[64], columns[64], rows[64];
  std::copy_n(coefficients, 64, x);
  for (int i = 0; i < 8; ++i) transform(x + i, 8, kFraction - kExtra, columns + i);
  for (int i = 0; i < 8; ++i) {
    transform(columns + 8 * i, 1, kFraction + kExtra + 3, rows + 8 * i);
    for (int k = 0; k < 8; ++k) out[i * stride + k] = clamped(rows[8 * i + k] + 128);
  }
}

// Each output lies a quarter pixel from the nearest input: weights 3/4 and 1/4 along both axes; the rounding
// alternates.
uint8_t* upsample_2x2(uint8_t* out, uint8_t* near, uint8_t* far, int width, int) {
  const auto column = [&](int i) {
    const int k = std::clamp(i, 0, width - 1);
    return 3 * near[k] + far[k];
  };
  for (int i = 0; i < width; ++i) {
    out[2 * i] = static_cast<uint8_t>((3 * column(i) + column(i - 1) + 8) >> 4);
    out[2 * i + 1] = static_cast<uint8_t>((3 * column(i) + column(i + 1) + 7) >> 4);
  }
  return out;
}

void to_rgb(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int count, int step) {
  constexpr int kHalf = 1 << 15;
  for (int i = 0; i < count; ++i, out += step) {
    const int blue = cb[i] - 128, red = cr[i] - 128;
    out[0] = clamped(y[i] + ((91881 * red + kHalf) >> 16));
    out[1] = clamped(y[i] + ((-22554 * blue - 46802 * red + kHalf) >> 16));
    out[2] = clamped(y[i] + ((116130 * blue + kHalf) >> 16));
    if (step == 4) out[3] = 255;
  }
}

}  // namespace trine::jpeg
