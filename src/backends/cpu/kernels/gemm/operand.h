// What number formats mean around the driver: which problems a GemmIsa takes, packed weights of any format, the numbers
// by column that sums of 8-bit integers meet.
#pragma once

#include "backends/cpu/kernels/gemm/gemm.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {

// Null when the microkernels of `isa` take these operands, else why not.
const char* types_refusal(const GemmIsa& isa, const dnn::ElementTypes& types, const dnn::Epilogue& epilogue);

// A right operand: rows are (tap, channel), read at tap * tap_step + channel * channel_step + column * column_step.
struct WeightShape {
  int64_t taps = 1, channels = 0, columns = 0;
  int64_t tap_step = 0, channel_step = 0, column_step = 0;

  int64_t padded_columns() const { return (columns + kPanel - 1) / kPanel * kPanel; }
};

// Bytes of packed weights: panels [padded_columns / 16][taps][words of channels][16], for 8-bit integers also the sum
// of every column.
int64_t packed_bytes(const GemmIsa& isa, const WeightShape& shape);
// Packs panels [panel_begin, panel_end).
void pack_weights(const GemmIsa& isa, const void* weights, const WeightShape& shape, int64_t panel_begin,
                  int64_t panel_end, void* packed);
// The filters of a convolution, [M, C/groups, taps]: one group's shape, bytes and packing of all groups.
WeightShape filter_shape(const dnn::ConvProblem& p);
size_t filter_bytes(const GemmIsa& isa, const dnn::ConvProblem& p);
void pack_filters(const GemmIsa& isa, const dnn::ConvProblem& p, const void* weights, void* packed);
inline dnn::Packing packing_of(const GemmIsa& isa) {
  return isa.format == DType::f32    ? dnn::Packing::panels16
         : isa.format == DType::bf16 ? dnn::Packing::panels16_bf16
                                     : dnn::Packing::panels16_int8;
}

// The offset, scale and bias of every column of `groups` groups, as TileEpilogue wants them. Where the activation is a
// clamp, the output's multiplier has gone into the numbers before it.
class ColumnNumbers {
 public:
  static size_t bytes(const dnn::ElementTypes& types, int64_t groups, int64_t columns);

  ColumnNumbers(const dnn::ElementTypes& types, const dnn::Args& args, int64_t groups, int64_t columns,
                void* workspace);
  // Fills group `g` from the sums of its weights' columns; alpha scales the sums of products.
  void fill(int64_t g, const int32_t* column_sums, float alpha = 1) const;
  void fill(int64_t g, const GemmIsa& isa, const WeightShape& shape, const void* packed, float alpha = 1) const;
  // Completes an epilogue made by TileEpilogue::from with everything that groups differ in.
  void set(int64_t g, TileEpilogue& epilogue) const;
  // What padding holds: the byte that stands for 0.
  uint8_t padding() const { return static_cast<uint8_t>(quantization_.in_zero); }

 private:
  void multiply_before(int64_t g, TileEpilogue& epilogue) const;

  const dnn::ElementTypes& types_;
  const dnn::Args& args_;
  dnn::Quantization quantization_;
  int64_t columns_, padded_;
  int32_t* offsets_;
  float *scales_, *biases_;
};

}  // namespace trine::cpu
