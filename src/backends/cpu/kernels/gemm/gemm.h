// The blocked driver around the microkernels: C = epilogue(A * B), A's rows reached through pointers, B in panels.
//
//   for a block of rows (its part of A stays in L2)
//     for a block of k (the panels in work stay in L2)
//       for a group of panels                      <- the next group is prefetched meanwhile
//         for a tile of rows                       -> microkernel
//
// k is never divided among threads, and blocks of k do not depend on their number: the result's bits do not either.
// Between blocks of k the sums lie in C; where C cannot hold them as they are there is one block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/gemm/tile.h"

namespace trine {
class ThreadPool;
}

namespace trine::cpu {

// Where rows [row, row + count) of A and C begin: a[tap * count + i], c[i].
struct RowSource {
  void (*fill)(const void* context, int64_t row, int count, const void** a, void** c);
  const void* context;
};

struct GemmJob {
  int64_t rows = 0, columns = 0;
  int taps = 1;
  int64_t kc = 0;         // words of a tap
  int last_bytes = 4;     // in use of a tap's last word
  bool reads_on = false;  // the rest of that word may be read: what it holds is masked out
  RowSource source;
  int64_t row_stride = 0;    // usual distance of A's rows in words: some strides collide in L1
  const float* b = nullptr;  // [columns / 16][taps * kc][16] words
  int64_t k_stride = kPanel;
  int64_t panel_stride = 0;       // 0: taps * kc * 16
  bool accumulate = false;        // adds to what C holds
  const float* next_b = nullptr;  // panels that will be read after these: prefetched at the end
  bool backwards = false;         // from the last panel to the first: what was read last is read first
  TileEpilogue epilogue;

  // Depth as elements: words and what the last one holds.
  void set_depth(const GemmIsa& isa, int64_t elements) {
    kc = isa.words(elements);
    last_bytes = static_cast<int>(elements * isa.element_bytes() - (kc - 1) * 4);
  }
  uint32_t last_mask() const { return last_bytes < 4 && reads_on ? (1u << last_bytes * 8) - 1 : 0; }
  bool needs_last_words() const { return last_bytes < 4 && !reads_on; }
  int64_t k() const { return taps * kc; }
  int64_t panels() const { return (columns + kPanel - 1) / kPanel; }
};

// Rows [row_begin, row_end) by panels [panel_begin, panel_end) of a job.
struct GemmRange {
  int64_t row_begin, row_end, panel_begin, panel_end;
};

// Row pointers of one block of rows; every part needs its own.
size_t gemm_part_bytes(const GemmIsa& isa, const GemmJob& job);
void run_gemm_part(const GemmIsa& isa, const GemmJob& job, const GemmRange& range, void* workspace);

// A whole job on the threads of `pool` (null: one); workspace of threads * gemm_part_bytes.
void run_gemm(const GemmIsa& isa, const GemmJob& job, ThreadPool* pool, void* workspace);

// Panels of one group of tiles: as many as the registers like for this number of rows.
int panels_per_group(const GemmIsa& isa, int64_t rows, int64_t panels);

// Estimated seconds; `efficiency` is the share of the peak that large sizes reach.
double gemm_seconds(const GemmIsa& isa, double flops, double bytes, int threads, double efficiency);

// Packs a row-major [k][n] (or, transposed, [n][k]) matrix into panels.
void pack_panels(const GemmIsa& isa, const float* src, int64_t ld, bool transposed, int64_t k, int64_t n, float* dst);
inline int64_t panels_floats(int64_t k, int64_t n) { return (n + kPanel - 1) / kPanel * kPanel * k; }

// Rows at constant distances, in bytes: a GEMM, a 1x1 convolution.
struct LinearRows {
  const void* a;
  int64_t a_step;
  void* c;
  int64_t c_step;

  static LinearRows of_floats(const float* a, int64_t lda, float* c, int64_t ldc) { return {a, lda * 4, c, ldc * 4}; }
  RowSource source() const;
};

// Work below this many seconds is not worth a fork.
constexpr double kMinForkSeconds = 5e-6;

}  // namespace trine::cpu
