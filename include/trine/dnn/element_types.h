// What the numbers of a contraction are: their types, and what 8-bit integers stand for.
#pragma once

#include <cstdint>
#include <string>

#include "trine/base/dtype.h"

namespace trine::dnn {

// Types of a contraction's operands.
//   f32, bf16, f16     in any mixture; sums in f32
//   u8 or i8 by i8     exact sums in i32; what the integers stand for is told by Quantization at run time. The output
//   is
//                      f32, u8, i8, or i32: the sums themselves, with an i32 bias but nothing else
struct ElementTypes {
  DType in = DType::f32, weights = DType::f32;
  DType out = DType::f32;          // of output and residual
  DType bias = DType::f32;         // or i32, of 8-bit integers: added to the sums before they are scaled
  bool scale_per_channel = false;  // of 8-bit integers: a scale for each output channel, else one for all

  bool are_f32() const { return *this == ElementTypes{}; }
  bool are_integers() const { return in == DType::u8 || in == DType::i8; }
  std::string text() const;  // "bf16*bf16->bf16", "u8*i8->i8 +i32 per channel"; empty when f32 throughout
  friend bool operator==(const ElementTypes&, const ElementTypes&) = default;
};

// What 8-bit integers stand for: real = (integer - zero) * scale. With s the exact sum of products,
//   x = f32(s - in_zero * (sum of the channel's weights) + i32 bias) * scale[channel] + f32 bias
//   x = the epilogue of x and of the residual r, taken as f32(r - residual_zero) * residual_scale where r is an integer
//   y = saturate(round_half_even(x * out_multiplier) + out_zero)         u8 and i8; an f32 output is x
// When the activation is none, relu or clip and y is an integer, the multiplier goes in first: scale, bias,
// residual_scale and the bounds of clip are multiplied by it instead of x. Each operation is one f32 rounding, never
// fused: every machine gives the same bits when the activation is none, relu, clip or leaky_relu. An i32 output is s -
// in_zero * (sum of weights) + i32 bias, modulo 2^32. Padding stands for 0.
struct Quantization {
  const float* scale = nullptr;  // of the sums (of in times of weights): one, or one for each output channel
  int32_t in_zero = 0;
  float out_multiplier = 1;  // 1 / scale of the output
  int32_t out_zero = 0;
  float residual_scale = 1;
  int32_t residual_zero = 0;
};

}  // namespace trine::dnn
