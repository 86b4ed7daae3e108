// Problems: what a kernel row is asked to compute, as plain values with concrete sizes. Copyable, comparable, hashable,
// printable; the key under which a choice or a measurement is remembered.
//
// Images are up to three-dimensional: [depth, height, width], missing leading dimensions being 1. Layout nhwc means
// [N, spatial..., C] with the channel innermost, nchw means [N, C, spatial...]. A pixel stride is the distance in
// elements between neighbouring pixels of an nhwc tensor; 0 stands for dense (= channels). It lets a kernel read or
// write a slice of the channels of a larger tensor (concat and split without copies).
#pragma once

#include <string>
#include <variant>

#include "trine/base/shape.h"
#include "trine/dnn/attention.h"
#include "trine/dnn/ctc.h"
#include "trine/dnn/element_types.h"
#include "trine/dnn/epilogue.h"
#include "trine/dnn/grid.h"
#include "trine/dnn/layout.h"
#include "trine/dnn/norm.h"
#include "trine/dnn/pointwise.h"
#include "trine/dnn/recurrent.h"
#include "trine/dnn/softmax.h"
#include "trine/dnn/tensor_ops.h"

namespace trine::dnn {

// y[n, o, m] = epilogue(sum over kernel positions t and channels c of  x[n, o*stride + t*dilation - pad_begin, c] *
// w[m, c, t]).  Weights as ONNX has them: [M, C/groups, kD, kH, kW]; of a transposed convolution [C, M/groups, ...].
struct ConvProblem {
  int64_t n = 1;
  int64_t in_channels = 0;  // all groups together
  int64_t out_channels = 0;
  int64_t groups = 1;
  Extents in{1, 1, 1};
  Extents out{1, 1, 1};  // decides the end padding
  Extents kernel{1, 1, 1};
  Extents stride{1, 1, 1};
  Extents dilation{1, 1, 1};
  Extents pad_begin{0, 0, 0};
  bool transposed = false;
  Layout in_layout = Layout::nhwc;  // the output is always nhwc
  int64_t in_pixel_stride = 0;
  int64_t out_pixel_stride = 0;  // of output and residual
  Epilogue epilogue = {};
  ElementTypes types = {};

  int64_t in_per_group() const { return in_channels / groups; }
  int64_t out_per_group() const { return out_channels / groups; }
  friend bool operator==(const ConvProblem&, const ConvProblem&) = default;
};

// Gradients of a convolution's weights and bias, of which `forward` is the description without epilogue:
// dw[m, c, t] = sum over n, o of dy[n, o, m] * x[n, o*stride + t*dilation - pad_begin, c],  db[m] = sum of dy[., m].
// The gradient of its input is a convolution too: backward_data below.
struct ConvWeightsProblem {
  ConvProblem forward;  // types: in of x, out of dy, weights of dw, bias of db
  bool bias = false;    // db is wanted
  bool add = false;     // dw and db are added to, not set

  friend bool operator==(const ConvWeightsProblem&, const ConvWeightsProblem&) = default;
};

// The convolution that turns dy into dx, with the same weights: transposed if `forward` is not, and the reverse.
ConvProblem backward_data(const ConvProblem& forward);

// y[b, i, j] = epilogue(sum over k of  a[b, i, k] * b[b, k, j]);  the bias belongs to columns j. Batch dimensions
// broadcast as NumPy does. trans_a: a is stored [..., K, M]; trans_b: b is stored [..., N, K].
struct MatmulProblem {
  int64_t m = 0, n = 0, k = 0;
  Dims a_batch = {}, b_batch = {};
  bool trans_a = false, trans_b = false;
  bool b_constant = false;     // b comes prepacked; its batch must then be empty
  float alpha = 1;             // scales the sum
  int64_t out_row_stride = 0;  // 0: n; of output and residual
  Epilogue epilogue = {};
  ElementTypes types = {};

  friend bool operator==(const MatmulProblem&, const MatmulProblem&) = default;
};

enum class PoolKind : uint8_t { max, average, average_with_pad };  // with_pad: padding counts in the divisor

struct PoolProblem {
  PoolKind kind = PoolKind::max;
  int64_t n = 1, channels = 0;
  Extents in{1, 1, 1}, out{1, 1, 1};
  Extents kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Extents pad_begin{0, 0, 0}, pad_end{0, 0, 0};  // pad_end limits what average_with_pad counts
  Layout layout = Layout::nhwc;                  // of input and output
  int64_t in_pixel_stride = 0, out_pixel_stride = 0;
  DType type = DType::f32;  // of x and y: f16, bf16, i8 and u8 too; sums in f32
  friend bool operator==(const PoolProblem&, const PoolProblem&) = default;
};

// Gradient of a pool's input: each dy goes to the window's maximum, the first in scan order of several equal ones and
// the first NaN before any number; or, divided as the average was, to the whole window.   in x (max only), dy   out dx
struct PoolBackwardProblem {
  PoolProblem forward;
  friend bool operator==(const PoolBackwardProblem&, const PoolBackwardProblem&) = default;
};

enum class ResizeMode : uint8_t { nearest, linear };
enum class ResizeCoordinates : uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric
};
enum class ResizeRounding : uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };  // nearest only

struct ResizeProblem {
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;
  int64_t n = 1, channels = 0;
  Extents in{1, 1, 1}, out{1, 1, 1};
  std::array<double, 3> scale{1, 1, 1};  // as given by the model: out/in is not always exactly it
  Layout layout = Layout::nhwc;
  int64_t in_pixel_stride = 0, out_pixel_stride = 0;
  DType type = DType::f32;  // of x and y: f16, bf16, i8 and u8 too
  friend bool operator==(const ResizeProblem&, const ResizeProblem&) = default;
};

// out[i . out_strides] = in[i . in_strides] for i in dims; strides in elements. Transposes, slices, broadcasts, pieces
// of a concat. `in` points at the element of index 0, so strides may be negative.
struct CopyProblem {
  Dims dims;
  Dims in_strides, out_strides;
  int64_t element_bytes = 4;
  friend bool operator==(const CopyProblem&, const CopyProblem&) = default;

  static CopyProblem transpose(const Dims& in_dims, const std::vector<int>& perm, int64_t element_bytes);
};

// out[o, i, :] = in[o, index[i], :]; a negative index counts from the end, one out of range throws Error.
struct GatherProblem {
  int64_t outer = 1, axis = 0, inner_bytes = 0, count = 0;
  DType index = DType::i64;  // or i32
  friend bool operator==(const GatherProblem&, const GatherProblem&) = default;
};

enum class OpKind : uint8_t {
  conv,
  matmul,
  pool,
  attention,
  rnn,
  resize,
  copy,
  gather,
  conv_weights,
  ctc_loss,
  affine_grid,
  grid_sample,
  activation,
  binary,
  dropout,
  softmax,
  pool_backward,
  norm,
  lrn,
  reduce,
  transform,
};
std::string_view name(OpKind op);

// The order of the alternatives is that of OpKind.
using Problem = std::variant<ConvProblem, MatmulProblem, PoolProblem, AttentionProblem, RnnProblem, ResizeProblem,
                             CopyProblem, GatherProblem, ConvWeightsProblem, CtcLossProblem, AffineGridProblem,
                             GridSampleProblem, ActivationProblem, BinaryProblem, DropoutProblem, SoftmaxProblem,
                             PoolBackwardProblem, NormProblem, LrnProblem, ReduceProblem, TransformProblem>;

inline OpKind op_kind(const Problem& problem) { return static_cast<OpKind>(problem.index()); }
// One line that determines the problem: "conv x[1,56,56,64] w[64,64,3,3] pad 1x1 -> [1,56,56,64] +bias relu".
std::string text(const Problem& problem);
size_t hash(const Problem& problem);

// The element types of a contraction, or of a convolution's gradient; f32 of other problems.
ElementTypes types_of(const Problem& problem);
// The type that rows of f32 cannot take: `type`, of a gradient of weights or a binary problem the first that is not
// f32; f32 when all is, and of other contractions.
DType type_of(const Problem& problem);

// Work that the definition needs (2 per multiply-add; a Winograd kernel does less) and bytes touched once.
double flops(const Problem& problem);
double bytes(const Problem& problem);

// The broadcast batch of a matmul.
Dims batch_of(const MatmulProblem& problem);

}  // namespace trine::dnn
