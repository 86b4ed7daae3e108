// Short ways to write problems.
#pragma once

#include "device_rows.h"

namespace trine::dnn::test {

constexpr ElementTypes kF16{DType::f16, DType::f16, DType::f16};
constexpr ElementTypes kBf16{DType::bf16, DType::bf16, DType::bf16};

inline std::vector<ElementTypes> float_types() {
  return {{}, kF16, kBf16, {DType::bf16, DType::f16, DType::f32, DType::bf16}, {DType::f16, DType::f16, DType::f32}};
}
inline std::vector<ElementTypes> integer_types() {
  return {{DType::u8, DType::i8, DType::u8},
          {DType::i8, DType::i8, DType::i8, DType::i32, true},
          {DType::u8, DType::i8, DType::f32, DType::f32, true},
          {DType::i8, DType::i8, DType::i32, DType::i32}};
}

// What i32 sums allow of an epilogue.
inline Epilogue allowed(const ElementTypes& types, const Epilogue& e) {
  return types.out == DType::i32 ? Epilogue{.bias = e.bias && types.bias == DType::i32} : e;
}

struct Conv {
  int64_t size, in, out, kernel = 1, stride = 1, pad = 0, groups = 1, dilation = 1;

  ConvProblem with(const ElementTypes& types = {}, const Epilogue& epilogue = {}) const {
    ConvProblem p;
    p.in_channels = in, p.out_channels = out, p.groups = groups;
    p.in = {1, size, size + 1};  // not square: a mixed up axis shows
    p.kernel = {1, kernel, kernel}, p.stride = {1, stride, stride}, p.dilation = {1, dilation, dilation};
    p.pad_begin = {0, pad, pad};
    for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
    p.types = types;
    p.epilogue = allowed(types, epilogue);
    return p;
  }
  // The transposed convolution, `extra` more rows than the least.
  ConvProblem transposed(const ElementTypes& types = {}, int64_t extra = 0) const {
    ConvProblem p = with(types);
    p.transposed = true;
    for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] - 1) * stride + (kernel - 1) * dilation + 1 - 2 * pad + extra;
    return p;
  }
};

constexpr Epilogue kReluWithBias{.bias = true, .activation = Activation::relu};

}  // namespace trine::dnn::test
