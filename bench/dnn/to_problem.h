// From a line of a list to what trine::dnn computes.
#pragma once

#include <optional>

#include "entry.h"
#include "trine/dnn/problem.h"

namespace trine::bench {

struct Translated {
  std::optional<dnn::Problem> problem;
  dnn::Quantization quantization;  // of 8-bit integers, but for the scales of sums, which are to be made up
  std::string unsupported;         // why there is none
};
Translated to_problem(const Entry& entry);

// Operations as benchdnn counts them: 2 per multiply-add, none where the kernel meets padding.
double benchdnn_ops(const dnn::Problem& problem);

}  // namespace trine::bench
