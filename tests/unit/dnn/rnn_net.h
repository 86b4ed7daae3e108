// Recurrent networks in f64, entry by entry and unit by unit from the definition: values, and what differences are
// taken of.
#pragma once

#include "check_rows.h"

namespace trine::dnn::test {

using Doubles = std::vector<double>;

struct RnnNet {
  Doubles x, h, c;  // initial states: empty stands for zeros
  Doubles weights[kMostWeights];
  std::vector<int32_t> lengths, random;

  // Of the operands of an inference or training problem.
  RnnNet(const RnnProblem& p, const Data& data);

  struct Result {
    Doubles y, h, c;
  };
  Result run(const RnnProblem& p) const;
};

}  // namespace trine::dnn::test
