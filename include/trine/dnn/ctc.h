// Connectionist temporal classification: the loss of a sequence of class scores against a shorter sequence of labels
// whose places in time are not known. Source: Graves et al. 2006.
#pragma once

#include <cstdint>

namespace trine::dnn {

// loss[b] = -ln (sum over all ways to write labels[b] with blanks and repeats in input_lens[b] steps of the product of
// their probabilities). x [T, B, C]; labels i32 [B, max_label], input_lens, label_lens i32 [B]; loss [B], dx [T, B, C].
//
// With `softmax` x holds logits (or log-probabilities: the same) and dx is the gradient to them; without it x holds
// probabilities, dx is the gradient to those, and 0 where the probability is 0. Steps at and past input_lens[b] are not
// read, their dx is 0. Labels that cannot be written in so few steps (fewer than labels + repeated neighbours) have
// loss +infinity, or 0 with zero_infinity, and dx 0 in either case. All in logarithms and in f64 inside; a NaN in a
// step that is read makes loss NaN. Throws Error for lengths and labels out of range and for labels that are the blank.
struct CtcLossProblem {
  int64_t steps = 0, batch = 1, classes = 0, max_label = 0;
  int64_t blank = 0;
  bool softmax = true;
  bool zero_infinity = false;
  friend bool operator==(const CtcLossProblem&, const CtcLossProblem&) = default;
};

}  // namespace trine::dnn
