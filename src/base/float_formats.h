// The small float formats, one description for all: conversions to and from double, rounding half to even.
//
// Sources: IEEE 754-2019 (f16), OCP 8-bit floating point and microscaling formats, ONNX Cast tables (fnuz, e8m0).
#pragma once

#include <cstdint>

#include "trine/base/dtype.h"

namespace trine {

// Types that contractions read: f32, and those whose values are all f32 too.
inline bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }
inline bool is_half_or_f32(DType type) { return type == DType::f32 || is_half(type); }

// What an out-of-range value becomes. `ieee`: infinity, or NaN for a format without infinities. `saturate`: the largest
// finite value (also for an infinite input). NaN stays NaN in both.
enum class Overflow : uint8_t { ieee, saturate };
// How a value between two representable ones is rounded; `down` and `up` are towards zero and away from it.
enum class Rounding : uint8_t { nearest_even, down, up };

// Bits of `value` in a float format of at most 16 bits (f16, bf16, f8*, f6*, f4e2m1).
uint16_t small_float_bits(DType type, double value, Overflow overflow = Overflow::ieee,
                          Rounding rounding = Rounding::nearest_even);
double small_float_value(DType type, uint16_t bits);

}  // namespace trine
