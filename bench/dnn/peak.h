// The most operations a second (2 for a multiply-add) that one core of this machine does on numbers of a type,
// measured: multiply-adds on registers, nothing else.
#pragma once

#include "trine/dnn/element_types.h"

namespace trine::bench {

// Where the machine has no instruction for bf16 or 8-bit integers, theirs is that of f32.
struct Peaks {
  double f32 = 0, bf16 = 0, int8 = 0;

  double of(const dnn::ElementTypes& types) const;
};
Peaks measure_peaks();  // of one core

}  // namespace trine::bench
