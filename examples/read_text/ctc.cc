#include "read_text/ctc.h"

#include <algorithm>
#include <sstream>

#include "trine/base/error.h"

namespace read_text {

std::vector<std::string> read_dictionary(const std::string& text) {
  std::vector<std::string> characters;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) characters.push_back(line);
  return characters;
}

Line decode(const trine::Tensor& probabilities, const std::vector<std::string>& dictionary) {
  if (probabilities.dtype() != trine::DType::f32 || probabilities.rank() != 3 || probabilities.dim(0) != 1) {
    throw trine::Error(trine::ErrorCode::invalid_argument,
                       "recogniser: output " + probabilities.type_text() + "; f32[1,steps,classes] is needed");
  }
  const auto classes = static_cast<size_t>(probabilities.dim(2));
  Line line;
  size_t before = 0, stayed = 0;
  for (int64_t step = 0; step < probabilities.dim(1); ++step) {
    const float* row = probabilities.as<float>() + static_cast<size_t>(step) * classes;
    const auto best = static_cast<size_t>(std::max_element(row, row + classes) - row);
    if (best != 0 && best != before) {
      line.text += best <= dictionary.size() ? dictionary[best - 1] : " ";
      line.score += row[best];
      ++stayed;
    }
    before = best;
  }
  if (stayed) line.score /= static_cast<double>(stayed);
  return line;
}

}  // namespace read_text
