// What kernels of rows are told by value, for them and for the hosts that fill it in: plain structs.
#pragma once

#include "divider.cuh"

namespace trine {

using Wide = long long;  // offsets in memory: elements, or bytes where it is said

// One axis of a pool's window.
struct PoolAxis {
  int in, out, kernel, stride, dilation, pad_begin, pad_end;
};

// Element x[n, pixel, channel] is at n * x_image + pixel * x_pixel + channel * x_channel; y likewise.
struct PoolSizes {
  PoolAxis axis[3];  // depth, height, width
  Wide x_image, x_pixel, x_channel, y_image, y_pixel, y_channel;
  unsigned items;                        // threads with work: outputs by groups of channels
  unsigned channels;                     // each group but the last has as many as the kernel's vector
  Divider groups, width, height, depth;  // of the output
  int channels_inner;                    // nhwc
  int padding_counts;                    // in the divisor
};

// What an output position reads along one axis: low * (1 - weight) + high * weight.
struct ResizeTaps {
  int low, high;
  float weight;
};
struct ResizeSizes {
  int in[3], out[3];
  Wide x_image, x_pixel, x_channel, y_image, y_pixel, y_channel;
  unsigned items, channels;
  Divider groups, width, height, depth;
  int channels_inner;
};

// Axes outermost first; the last `inside` ones are the kernel's own, the others are counted down.
constexpr int kMostAxes = 16;
struct CopySizes {
  Wide in[kMostAxes], out[kMostAxes];  // strides, elements
  Divider size[kMostAxes];
  int axes;
  unsigned items;
};

struct GatherSizes {
  Wide axis, inner;       // rows; bytes of a row
  Divider count, pieces;  // indices; pieces of a row
  unsigned items;
};

// dnn::AttentionProblem for kernels. Rows are queries by `pack` heads that share keys: row r is query r / pack of head
// r % pack of its group.
struct AttentionSizes {
  Wide q[3], k[3], v[3], y[3], mask_stride[4];
  int batch, heads, kv_heads, q_len, kv_len, d, dv;
  int pack, rows, row_tiles, splits;
  float scale, softcap, dropout;
  int causal, causal_offset, bottom_right, window_left, window_right, lengths, alibi;
  int mask;  // 0 none, 1 additive, 2 boolean
};

// One layer of a recurrent network. Gates stand as in dnn::RnnProblem.
struct RnnSizes {
  int kind;  // 0 lstm, 1 gru, 2 tanh, 3 relu
  int steps, batch, hidden, directions, reverse, joined;
  int linear_before_reset, peephole, lengths;
  float clip, cell_min, cell_max;  // clip 0: none
};

// Of x[outer, axis, inner].
struct SoftmaxSizes {
  int kind;  // 0 accurate, 1 fast, 2 log
  int outer, axis, inner;
};

// dnn::NormProblem of sets of `set_channels` channels in `images` images.
struct NormSizes {
  int channels, pixels, set_channels, images, sets;
  int channels_inner, batch, centred, relu;
  float epsilon, momentum;
  Divider channel, pixel, group;  // channels, pixels, set_channels
  unsigned items;
};

struct LrnSizes {
  int within, channels, size, channels_inner;
  int image[3];
  float alpha, beta, k;
  unsigned items;
  Divider channel, depth, height, width;
};

// Which elements are reduced: those of `inside`, to each of those of `outside`.
struct ReduceSizes {
  int kind, indices;
  float alpha, beta;
  CopySizes outside, inside;
};

// Depth, height, width; without a depth its sizes are 1.
struct GridSizes {
  int axes, align_corners, nearest, padding;  // padding: 0 zeros, 1 border, 2 reflection
  int in[3], out[3];
  Wide x_image, x_pixel, x_channel, y_image, y_pixel, y_channel;
  unsigned items;
  Divider channel, width, height, depth;
  int channels_inner;
};

}  // namespace trine
