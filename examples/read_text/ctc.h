// From a recogniser's output to text: connectionist temporal classification, best path (Graves et al. 2006).
#pragma once

#include <string>
#include <vector>

#include "trine/base/tensor.h"

namespace read_text {

struct Line {
  std::string text;
  double score = 0;  // mean probability of the characters that stayed
};

// One character a line, as the model's metadata "character" holds it. Class 0 is the blank; a class past the last
// character is a space.
std::vector<std::string> read_dictionary(const std::string& text);

// `probabilities`: f32[1, steps, classes].
Line decode(const trine::Tensor& probabilities, const std::vector<std::string>& dictionary);

}  // namespace read_text
