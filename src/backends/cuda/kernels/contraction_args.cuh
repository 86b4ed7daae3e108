// What the kernels of contractions are given by value, as host and device see it. Plain C++: rows include it too.
#pragma once

#include "divider.cuh"

namespace trine::contraction {

enum Number : int { kF32, kF16, kBf16, kI8, kU8, kI32 };  // types in memory

// From sums to what is stored: dnn::Epilogue, and dnn::Quantization of 8-bit integers.
struct Finish {
  int act, residual;  // as in epilogue.cuh
  float alpha, beta;
  float factor;   // MatmulProblem::alpha
  int out, bias;  // types of output and residual, of the bias
  int scale_per_channel;
  int in_zero, out_zero, residual_zero;
  float out_multiplier, residual_scale;
  int multiply_first;  // the output's multiplier goes into the numbers before the activation
};

// Up to kMostBatches dimensions of a batch, the innermost first: extents and steps of a and b in elements.
constexpr int kMostBatches = 6;
struct Batches {
  int rank;
  int extent[kMostBatches];
  long long a_step[kMostBatches], b_step[kMostBatches];
};

// y[i, j] = sum over k of A[i, k] B[k, j], for every member of a batch (or group of channels).
struct Product {
  int rows, columns, depth;
  int a_type, b_type;
  int row_tiles, column_tiles;
  long long a_row, a_depth;     // steps in elements; of a convolution a_depth is that of channels
  long long b_depth, b_column;  // likewise
  long long y_row, y_batch;     // of output and residual
  int column_batch;             // from one member's columns to the next one's, in bias and scales
  int a_by_rows, b_by_columns;  // neighbouring rows (columns) are neighbours in memory
  Batches batches;
};

// A convolution's rows and depth: row = (image, output position), k = (kernel position, channel).
struct Window {
  int in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  int channels;  // of a group
  int transposed;
  long long image, pixel;  // steps in elements
};

// What tensor-core kernels are given. A's rows are those of a matrix (kernel 1x1x1, `plain`) or where a window stands;
// depth is (kernel position, channel), each position's channels padded to 16 bytes. B is [columns][b_row].
struct Mma {
  int rows, columns, members;
  int steps, split_steps;                   // of depth, 128 bytes each; of one part of it
  Divider column_tiles, row_tiles, splits;  // how blocks count, the first the fastest
  int plain, whole;  // rows and pixels begin at multiples of 16 bytes, if a does, and have a multiple of 16 bytes
  int constant_b;    // b is no kernel's result
  int a_row, channels, padded_channels;
  // Of a window over few channels: the channels of a pixel; a line of the window, `line` pixels, is what depth counts
  // as one position of line * patch channels. Else 0.
  int patch, line;
  int in[3], kernel[3], stride[3], pad[3];
  Divider out[3], dilation[3];
  int image, pixel;  // steps in elements
  int b_depth, b_row;
  int y_aligned;  // rows of y and residual likewise begin at multiples of eight elements
  long long y_row, y_batch;
  int column_batch;
  // Sums of parts of depth: [part][member][row][partial_row], the last a multiple of 8; how threads count them.
  int partial_row;
  Divider row_eights, member_rows;
  Batches batches;
};

}  // namespace trine::contraction
