#pragma once

#include "trine/base/dtype.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

enum class NormKind : uint8_t { batch, instance, group, layer, rms };

// Of x[n, c, s], s counting the pixels of an image, these share a mean and a variance:
//   batch     the elements of a channel, in all images       per activation: channels = C*H*W, pixels = 1
//   instance  those of a channel of an image
//   group     those of a group of channels of an image
//   layer     those of an image                              the last axes of a matrix: channels = their size, pixels =
//   1 rms       as layer, with 0 for the mean
// y = act((x - mean) * inverse_std * scale[c] + shift[c] + z),  inverse_std = 1 / sqrt(variance + epsilon); the
// variance is that of the elements themselves (biased), act relu or nothing. Batch norms for inference take mean and
// variance from `running`; for training they compute them, and
//   running = (1 - momentum) * running + momentum * new      with the unbiased variance (that of one element: biased)
//
// forward   in x, scale, shift, running      residual z    out y, saved, running
// backward  in x, dy, scale, saved, y        out dx, dscale, dshift, dz;  of inference `running` in the place of saved
// saved [2][sets]: mean (of rms 0), then inverse std. running [2][channels]: mean, then variance; in and out may be the
// same memory. Outputs but the first may be null. y is read only when there is a relu, whose gradient at y = 0 is 0. dz
// is the relu's gradient. Sums are made in f32 in blocks, and in f64 over blocks.
// A NaN makes NaN of all that share its mean; relu(NaN) is NaN.
struct NormProblem {
  NormKind kind = NormKind::batch;
  Pass pass = Pass::forward;
  int64_t n = 1, channels = 0, pixels = 1;
  int64_t groups = 1;  // group only
  Layout layout = Layout::nhwc;
  bool training = false;  // batch only
  bool scale = true, shift = true, add = false, relu = false;
  float epsilon = 1e-5f, momentum = 0.1f;
  DType type = DType::f32;  // of x, y, z and their gradients: f16 and bf16 too; scale, shift and statistics are f32

  // Channels of an image that share a mean, and how many different means there are.
  int64_t channels_per_set() const {
    return kind == NormKind::group                            ? channels / groups
           : kind == NormKind::layer || kind == NormKind::rms ? channels
                                                              : 1;
  }
  int64_t sets() const { return (kind == NormKind::batch ? 1 : n) * (channels / (channels ? channels_per_set() : 1)); }
  bool uses_running() const { return kind == NormKind::batch && !training; }
  friend bool operator==(const NormProblem&, const NormProblem&) = default;
};

// Local response: y = x * d^-beta,  d = k + alpha / size^a * sum of x^2 over a window.
//   across channels  a = 1: channels [c - (size-1)/2, c + size/2] of the pixel, as far as there are any
//   within a channel a = 2: size x size pixels (height, width) around it in the same way; planes of a depth stand alone
// forward   in x       out y
// backward  in x, dy   out dx
// k must be positive. A NaN makes NaN of all whose window meets it.
struct LrnProblem {
  Pass pass = Pass::forward;
  bool within = false;
  int64_t n = 1, channels = 0;
  Extents image{1, 1, 1};
  int64_t size = 5;
  Layout layout = Layout::nhwc;
  float alpha = 1e-4f, beta = 0.75f, k = 2;
  DType type = DType::f32;  // f16 and bf16 too
  friend bool operator==(const LrnProblem&, const LrnProblem&) = default;
};

}  // namespace trine::dnn
