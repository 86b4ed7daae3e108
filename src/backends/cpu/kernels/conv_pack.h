// Packing of convolution weights into panels of 16 output channels.
#pragma once

#include "trine/dnn/problem.h"

namespace trine::cpu {

inline int64_t volume(const dnn::Extents& e) { return e[0] * e[1] * e[2]; }
inline int64_t pixel_stride(int64_t given, int64_t dense) { return given ? given : dense; }

// Floats of one group's panels.
int64_t conv_group_floats(const dnn::ConvProblem& p);
// ONNX weights [M, C/g, taps] -> [group][M/g / 16][(tap, channel)][16].
void pack_conv(const dnn::ConvProblem& p, const float* weights, float* packed);

}  // namespace trine::cpu
