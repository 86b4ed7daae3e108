// Where an output position of a ResizeProblem reads along one axis, for rows of any machine.
#pragma once

#include "trine/dnn/problem.h"

namespace trine::dnn {

// value = in[low] * (1 - weight) + in[high] * weight
struct ResizeReading {
  int64_t low, high;
  float weight;
};

ResizeReading resize_reading(const ResizeProblem& p, size_t axis, int64_t out);

}  // namespace trine::dnn
