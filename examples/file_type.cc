// Tells what kind of content files hold, from their first and last kilobyte.
//
//   build/bin/file_type magika.onnx labels.txt FILE...
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <fstream>

#include "media/file.h"
#include "shared/program.h"
#include "trine/engine/session.h"

namespace {

using namespace trine;

constexpr size_t kPart = 1024;
constexpr size_t kBlock = 4096;
constexpr int32_t kPadding = 256;

bool is_space(uint8_t c) { return std::isspace(c) != 0; }

// i32[1,2048]: the first 1024 bytes after leading white space, the last 1024 before trailing white space.
Tensor features(const std::vector<uint8_t>& bytes) {
  Tensor out(DType::i32, {1, 2 * kPart});
  auto* to = out.mutable_as<int32_t>();
  std::fill_n(to, 2 * kPart, kPadding);
  const auto block = static_cast<std::ptrdiff_t>(std::min(kBlock, bytes.size()));
  const auto begin = std::find_if_not(bytes.begin(), bytes.begin() + block, is_space);
  const auto count = std::min<std::ptrdiff_t>(kPart, bytes.begin() + block - begin);
  std::copy_n(begin, count, to);
  const auto end = std::find_if_not(bytes.rbegin(), bytes.rbegin() + block, is_space).base();
  const auto tail = std::min<std::ptrdiff_t>(kPart, end - (bytes.end() - block));
  std::copy_n(end - tail, tail, to + 2 * kPart - tail);
  return out;
}

int run(int argc, char** argv) {
  Session session(examples::open(argv[1]));
  std::ifstream file(argv[2]);
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  for (int i = 3; i < argc; ++i) {
    const auto bytes = media::read_file(argv[i]);
    const Tensor scores = session.run(std::vector<Datum>{features(bytes)}).at(0).tensor();
    const float* begin = scores.as<float>();
    const float* best = std::max_element(begin, begin + scores.elements());
    const auto label = static_cast<size_t>(best - begin);
    fmt::print("{:<12} {:.3f}  {}\n", label < labels.size() ? labels[label] : "?", *best, argv[i]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::program(argc, argv, 3, INT_MAX, "file_type MODEL LABELS FILE...", run);
}
