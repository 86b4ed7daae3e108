// Kernels of normalisations: sums over runs or over columns, and what is done with them.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

// rows x columns of x, dy, y, z and of the results, all with the row stride ld. Statistics belong to columns or, a row
// having one of each, lie stats_step apart; scale and shift belong to columns or are one for the tile.
struct NormTile {
  const float *x = nullptr, *dy = nullptr, *z = nullptr;
  const float* y = nullptr;  // not null: dy counts where y is not <= 0
  int64_t rows = 1, ld = 0, columns = 0;
  const float *mean = nullptr, *inverse = nullptr;
  const float *mean_h = nullptr, *mean_hx = nullptr;  // of gradients: means of h = dy * scale and of h * xhat
  bool stats_by_column = false;
  int64_t stats_step = 0;
  const float *scale = nullptr, *shift = nullptr;  // null: 1 and 0
  bool scale_by_column = false;
  bool relu = false;
  float *out = nullptr, *dz = nullptr;
  float *sum = nullptr, *sum_x = nullptr;  // [columns]
};

struct NormIsa {
  double (*sum)(const float* x, int64_t n);
  double (*squares)(const float* x, float mean, int64_t n);  // of x - mean
  void (*gradient_sums)(const NormTile&, double sums[2]);    // of one row: of h and of h * xhat
  void (*column_sums)(const NormTile&);                      // sum: of x
  void (*column_squares)(const NormTile&);                   // sum: of (x - mean)^2
  void (*column_gradient_sums)(const NormTile&);             // sum, sum_x: of dy and of dy * xhat
  void (*apply)(const NormTile&);                            // out
  void (*apply_gradient)(const NormTile&);                   // out, dz (may be null)
};
extern const NormIsa kNormBaseline;
#if defined(__x86_64__)
extern const NormIsa kNormAvx2;
extern const NormIsa kNormAvx512;
#endif

}  // namespace trine::cpu
