// What the user gives as inputs: files, pictures, numbers or random data, made to fit what the model declares.
//
//   --input x=file.npy | x=cat.jpg | x=rand | x=rand:7 | x=16000 | x=true | x=[1,2,3] | x=[[1,2],[3,4]]
//                                                            `x=` may go when there is one input
//   --shapes x=1x3x224x224                                   sizes of symbolic dimensions
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "media/image.h"
#include "trine/engine/engine.h"

namespace trine::cli {

// One dimension of --shapes: a fixed size has min = opt = max.
struct DimRange {
  int64_t min = 0, opt = 0, max = 0;
  friend bool operator==(const DimRange&, const DimRange&) = default;
};
using ShapeRanges = std::map<std::string, std::vector<DimRange>>;

// "x=1x3x224x224" or "x=1..8..32x3x224x224" (min..opt..max; min..max takes max as opt). Throws Error{invalid_argument}.
ShapeRanges parse_shapes(const std::vector<std::string>& texts);

struct InputOptions {
  std::vector<std::string> specs;   // of --input
  std::vector<std::string> shapes;  // of --shapes
  media::Normalise normalise;
  media::FitMode fit = media::FitMode::stretch;
  uint64_t seed = 1;                      // of `rand` without a number
  std::map<std::string, int64_t> likely;  // sizes of symbols that nothing else says
};

// The picture that became an input, for drawing on it.
struct Picture {
  media::Image image;
  media::Fit fit;
  int width = 0, height = 0;  // of the network's input
};

struct Inputs {
  std::map<std::string, Tensor> tensors;
  std::optional<Picture> picture;
};

// A tensor for every input: as asked, `rand` for those not named. Throws Error{invalid_argument} naming the input, what
// it declares and what was given.
Inputs make_inputs(const std::vector<IoInfo>& declared, const InputOptions& options);

// Random elements: floats N(0, 1), integers and booleans 0 or 1 (indices must be in range whatever the table's size).
Tensor random_tensor(DType dtype, const Dims& dims, uint64_t seed);

}  // namespace trine::cli
