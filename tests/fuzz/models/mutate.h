// Rewrites an encoded ONNX model so that it stays well formed while numbers in it change: integers of declared shapes,
// attributes and tensors become edge values, sizes become symbols, reals of attributes and small tensors edge reals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace trine::fuzz {

struct Rates {
  double integers;  // part of the integers of attributes and tensors that is replaced
  double sizes;     // of declared shapes; a wrong one mostly ends the trial early
  double reals;     // part of the reals of attributes and tensors of at most 16 elements
};

// One of: nothing, about one number, a sixteenth, a quarter.
Rates draw_rates(Random& random);

// The model (a ModelProto) with numbers replaced.
std::string mutated_model(std::string_view model, const Rates& rates, Random& random);
// A TensorProto the same way, under another name.
std::string mutated_tensor(std::string_view tensor, std::string_view name, const Rates& rates, Random& random);
// The model with `tensors` (TensorProto) among its graph's initialisers: inputs of their names become constants.
std::string with_initializers(std::string_view model, const std::vector<std::string>& tensors);

struct ModelInput {
  std::string name;
  bool is_tensor;
};
// The graph's inputs in order.
std::vector<ModelInput> inputs_of(std::string_view model);

}  // namespace trine::fuzz
