// What contract_sm90.cu and contract_sm90_turns.cu are told by value, for them and for the host that fills it in.
#pragma once

#include "sizes.cuh"

namespace trine {

struct ContractParams {
  int m, n;
  int chunks, blocks;             // blocks of k in a tap, and in all taps
  int taps_w, step_w, step_h;     // taps of a row of the kernel; pixels between taps
  Divider out_w, out_h;
  int stride_w, stride_h, pad_w, pad_h;
  int stages, split, split_bits;  // k is divided among 1 << split_bits blocks
  int out_stride;       // elements between rows of the output and the residual
  int constant_b;       // b is no kernel's result: it may be read before the kernel before is done
  float scale;          // of the sums
  int residual;         // a dnn::Residual
  float alpha, beta;    // of the activation
};

// Of blocks that go over tiles, eight columns of tiles at a time.
struct TurnParams {
  int tiles, across;  // all, and side by side
  Divider of_eight;   // 8 times the tiles one below the other
};

}  // namespace trine
