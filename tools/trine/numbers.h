// Numbers written by hand: "16000", "true", "[1, 2, 3]", "[[1,2],[3,4]]".
#pragma once

#include <string>

#include "trine/engine/engine.h"

namespace trine::cli {

// A tensor of the declared type and shape; all 64 bits of an integer are kept. A nested list has its own shape; a plain
// one fills the declared sizes, of which the last open one takes what is left and the others are 1. Throws
// Error{invalid_argument} for what is no number, does not fit the type or the shape.
Tensor number_tensor(const IoInfo& info, const std::string& text);

}  // namespace trine::cli
