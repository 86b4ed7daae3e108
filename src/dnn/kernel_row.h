// KernelRow: one way to compute one kind of problem on one kind of machine. Rows stand in tables, best first; adding an
// algorithm is adding a row and its functions. Backends register their tables when their object files are linked.
#pragma once

#include <span>

#include "trine/dnn/find.h"

namespace trine {
class ThreadPool;
}

namespace trine::dnn {

// How a row wants its weights. Rows with the same packing share the packed bytes, whatever their CPU level. Engine
// files hold the numbers: new ones stand at the end.
enum class Packing : uint8_t {
  none,
  panels16,           // [group][N/16][K][16], K = (kernel position, channel); zero padded columns
  panels16_by_phase,  // transposed convolution: one panels16 block per output phase
  depthwise,          // [kernel position][C]
  winograd2,
  winograd4,         // transformed filters, [a*a] planes of panels16
  recurrent,         // input and recurrent weights and bias of every direction
  recurrent_layers,  // the same of every layer, for its pass
  panels16_bf16,     // [group][N/16][taps][K/2][16][2] of bf16, zero padded
  panels16_int8,     // [group] of [N/16][taps][K/4][16][4] of i8, then the i32 sum of every column
  depthwise_int8,    // [kernel position][C] of f32, then the i32 sum of every channel
  strassen,          // seven panels16 of quarters of a matrix and their sums
  rows16_bf16,       // as panels16_bf16 and panels16_int8, K = (channels of a row of the kernel): a tap is such a row
  rows16_int8,
  winograd2_bf16,        // transformed filters, [a*a] planes of panels16_bf16
  depthwise_words_bf16,  // [block of C][kernel row][vector of words of two taps]; see depthwise_words.cc
  depthwise_words_int8,  // the same of four taps, then the i32 sum of every channel
};
std::string_view name(Packing packing);

// Pointers of one call. Which in[] and out[] mean what:
//   conv       in x                                     out y      packed, bias [M], residual (as y)
//   matmul     in a, b (b null when b_constant)         out y      packed when b_constant, bias [N], residual (as y)
//   pool, resize, copy   in x                           out y
//   attention      as said at AttentionProblem
//   rnn            as said at RnnProblem
//   gather     in data, indices                         out y
//   conv_weights   in x, dy                             out dw, db (null when not wanted)
//   ctc_loss       in x, labels, input_lens, label_lens out loss, dx (null when not wanted)
//   affine_grid    in theta | dgrid                     out grid | dtheta
//   grid_sample    in x, grid | x, grid, dy             out y | dx, dgrid (each may be null)
//   others: at the problem
// `workspace` has workspace_bytes(problem, pool threads) bytes; it and `packed` are 64-byte aligned.
struct Args {
  const void* in[kMostOperands] = {};
  void* out[kMostOperands] = {};
  const void* packed = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
  const Quantization* quantization = nullptr;  // of problems of 8-bit integers; null: all scales 1, all zeros 0
  void* workspace = nullptr;
  ThreadPool* pool = nullptr;  // null: one thread
};

struct KernelRow {
  std::string_view name;  // op_in_out_algorithm_arch: "conv_f32_indirect_gemm_avx512"
  OpKind op;
  CpuLevel needs;
  CpuFeatures also_needs = {};
  DType in = DType::f32;
  DType out = DType::f32;
  Numerics numerics = Numerics::exact;
  Packing packing = Packing::none;

  // Null when the row can compute the problem, else why not ("stride 2x2; only 1x1").
  const char* (*fits)(const Problem&);
  // Estimated seconds on `threads` threads.
  double (*cost)(const Problem&, int threads);
  size_t (*workspace_bytes)(const Problem&, int threads) = nullptr;  // null: none
  // Weights, as Args describes them, in ONNX order: conv {w}, matmul {b}, rnn {w, r, bias or null}. Null: no packing.
  size_t (*packed_bytes)(const Problem&) = nullptr;
  void (*prepack)(const Problem&, std::span<const void* const> weights, void* packed) = nullptr;
  // Throws Error only for bad values in data (gather's indices).
  void (*run)(const Problem&, const Args&);
};

// Whether such a machine can run `row`.
inline bool runs_on(const KernelRow& row, CpuLevel level, const CpuFeatures& features) {
  return row.needs <= level && features.include(row.also_needs);
}
inline bool runs_here(const KernelRow& row) { return runs_on(row, cpu_level(), cpu_features()); }

// Null when `row` can compute `problem`, else why not. Rows of f32 need not ask for the type of a problem.
inline const char* misfit(const KernelRow& row, const Problem& problem) {
  if (row.in == DType::f32 && type_of(problem) != DType::f32) return "operands other than f32";
  return row.fits(problem);
}

inline size_t workspace_bytes(const KernelRow& row, const Problem& problem, int threads) {
  return row.workspace_bytes ? row.workspace_bytes(problem, threads) : 0;
}
inline size_t packed_bytes(const KernelRow& row, const Problem& problem) {
  return row.packed_bytes ? row.packed_bytes(problem) : 0;
}

// A table in a backend:  static const RegisterRows rows(kConv);
class RegisterRows {
 public:
  explicit RegisterRows(std::span<const KernelRow> rows);
};

// While it lives, `row` stands before all others; tests plant wrong rows with it.
class ScopedRow {
 public:
  explicit ScopedRow(const KernelRow& row);
  ~ScopedRow();
  ScopedRow(const ScopedRow&) = delete;
  ScopedRow& operator=(const ScopedRow&) = delete;

 private:
  const KernelRow* row_;
};

// All rows of an operator, or all; best first within an operator as far as the tables say.
std::vector<const KernelRow*> rows_of(OpKind op);
std::vector<const KernelRow*> all_rows();
const KernelRow* find_row(std::string_view name);  // null when there is none

}  // namespace trine::dnn
