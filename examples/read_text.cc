// Reads the text in a picture: a detector finds lines, a recogniser reads each.
//
//   build/bin/read_text detector.onnx recogniser.onnx sign.png boxes.png
//
// Both networks may be ONNX files or engines (.trn). They are made for pictures of any size: shapes are dynamic, and
// the session prepares itself for each new size once. The dictionary stands in the recogniser's metadata.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "media/draw.h"
#include "media/image.h"
#include "read_text/ctc.h"
#include "read_text/text_boxes.h"
#include "shared/program.h"
#include "trine/engine/session.h"

namespace {

using namespace trine;
using media::Image;

constexpr media::Normalise kPaddle = {.mean = {0.5, 0.5, 0.5}, .std = {0.5, 0.5, 0.5}, .bgr = true};
constexpr int kLineHeight = 48;
constexpr int kLongestSide = 960;
constexpr double kMinScore = 0.5;

Tensor run_one(Session& session, const Tensor& input) { return session.run(std::vector<Datum>{input}).at(0).tensor(); }

int round_to_32(double value) { return std::max(32, static_cast<int>(std::lround(value / 32)) * 32); }

// Boxes in pixels of the picture.
std::vector<read_text::TextBox> find_lines(Session& detector, const Image& image) {
  const double scale = std::min(1.0, static_cast<double>(kLongestSide) / std::max(image.width, image.height));
  const int width = round_to_32(image.width * scale), height = round_to_32(image.height * scale);
  const Tensor map = run_one(detector, media::to_tensor(media::resize(image, width, height), kPaddle));
  auto boxes = read_text::find_boxes(map.as<float>(), width, height);
  for (auto& box : boxes) {
    for (auto& corner : box.corners) corner = {corner.x * image.width / width, corner.y * image.height / height};
  }
  return boxes;
}

// Lines are padded to a multiple of 32: fewer sizes for the session to prepare for.
read_text::Line read_line(Session& recogniser, const Image& crop, const std::vector<std::string>& dictionary) {
  const int width =
      std::max(8, static_cast<int>(std::ceil(static_cast<double>(kLineHeight) * crop.width / crop.height)));
  const Tensor line = media::to_tensor(media::resize(crop, width, kLineHeight), kPaddle);
  const int64_t padded = (width + 31) / 32 * 32;
  Tensor input(DType::f32, {1, 3, kLineHeight, padded});
  std::fill_n(input.mutable_as<float>(), input.elements(), 0.0f);
  for (int64_t row = 0; row < 3 * kLineHeight; ++row) {
    std::copy_n(line.as<float>() + row * width, width, input.mutable_as<float>() + row * padded);
  }
  return read_text::decode(run_one(recogniser, input), dictionary);
}

int run(int, char** argv) {
  const Engine detector_engine = examples::open(argv[1]), recogniser_engine = examples::open(argv[2]);
  Session detector(detector_engine), recogniser(recogniser_engine);
  const auto dictionary = read_text::read_dictionary(recogniser_engine.metadata().at("character"));
  Image image = media::load_image(argv[3]);
  Image drawn = image;
  int number = 0;
  for (const auto& box : find_lines(detector, image)) {
    const auto line = read_line(recogniser, read_text::rectify(image, box), dictionary);
    if (line.score < kMinScore) continue;
    fmt::print("{:.2f}  {}\n", line.score, line.text);
    const auto colour = media::label_colour(number++);
    media::draw_polygon(drawn, {box.corners.begin(), box.corners.end()}, colour, 2);
    media::draw_label(drawn, static_cast<int>(box.corners[0].x), static_cast<int>(box.corners[0].y), line.text, colour);
  }
  media::save_png(argv[4], drawn);
  fmt::print("{} lines; {} written\n", number, argv[4]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::program(argc, argv, 4, 4, "read_text DETECTOR RECOGNISER PICTURE OUT.png", run);
}
