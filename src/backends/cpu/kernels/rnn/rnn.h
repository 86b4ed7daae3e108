// Elementwise parts of recurrent cells, on one batch row of n hidden units.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

struct LstmBounds {
  float clip, cell_min, cell_max;
};

struct RnnIsa {
  // gates [4][n] in order i o f c, before activation:  c' = sigm(f) c + sigm(i) tanh(c~),  h' = sigm(o) tanh(c')
  void (*lstm)(const float* gates, int64_t n, const float* c, float* c_next, float* h_next);
  // gates [3][n] in order z r h before activation: z and r become their sigmoids; reset = r * h
  void (*gru_reset)(float* gates, int64_t n, const float* h, float* reset);
  // h~ += r * recurrent   (linear before reset)
  void (*gru_linear)(float* gates, int64_t n, const float* recurrent);
  // h' = (1 - z) tanh(h~) + z h
  void (*gru_output)(const float* gates, int64_t n, const float* h, float* h_next);
  void (*tanh)(const float* gates, int64_t n, float* h_next);
  void (*relu)(const float* gates, int64_t n, float* h_next);
  void (*sigmoid)(const float* from, int64_t n, float* to);
  // As lstm, with peepholes [3][n] (i o f; null: none), gate sums fitted into [-clip, clip] and c' into [cell_min,
  // cell_max]; gates become the fitted sums.
  void (*lstm_fitted)(float* gates, int64_t n, const float* peephole, const LstmBounds& bounds, const float* c,
                      float* c_next, float* h_next);
  void (*clip)(float* x, int64_t n, float bound);  // into [-bound, bound]; NaN stays
};
extern const RnnIsa kRnnBaseline;
#if defined(__x86_64__)
extern const RnnIsa kRnnAvx2;
extern const RnnIsa kRnnAvx512;
#endif

}  // namespace trine::cpu
