// How far two tensors are apart, by the rules that verification uses.
#pragma once

#include "plan/prepare.h"

namespace trine {

struct Difference {
  double worst = 0;    // largest |got - want|
  double allowed = 0;  // at that element
  bool ok = true;
  bool sampled = false;
};

// Element by element: |got - want| <= factor * (2^-16 * (largest |want|) + 16 * noise), NaN and infinities equal,
// integers equal (but for one unit where a float was rounded). `noise`: see noise.h.
Difference compare_all(const Tensor& got, const Tensor& want, double factor, double noise = 0);

// A contraction's output at sampled positions, each computed in f64 from the node's inputs; allowed is the bound
// factor * (K + 8) * eps * sum |a||b|. Nothing for problems that it does not know.
std::optional<Difference> compare_sampled(const Node& node, const Call& call, const std::vector<Datum>& inputs,
                                          const Tensor& got, double factor);

}  // namespace trine
