// Pictures, .npy files, boxes: what the command line and the examples share.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "media/boxes.h"
#include "media/draw.h"
#include "media/file.h"
#include "media/image.h"
#include "media/npy.h"
#include "media/wav.h"
#include "trine/base/error.h"

namespace trine::media {
namespace {

// A folder of this process, gone at the end.
class Folder : public ::testing::Test {
 protected:
  Folder() : path_(std::filesystem::temp_directory_path() / ("trine_media_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() override { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path path_;
};
using Npy = Folder;
using Pictures = Folder;

template <class F>
Error error_of(F run) {
  try {
    run();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::io, "no error"};
}

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string text = dictionary + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + data;
}

TEST_F(Npy, keeps_type_shape_and_bytes) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i8, DType::u8, DType::i64, DType::boolean}) {
    const Tensor in = Tensor::from_f64(dtype, {2, 3}, {0, 1, 0, 1, 1, 0});
    save_npy(file("x.npy"), in);
    const Tensor out = load_npy(file("x.npy"));
    EXPECT_EQ(out.dtype(), dtype);
    EXPECT_EQ(out.dims(), in.dims());
    EXPECT_EQ(out.f64_values(), in.f64_values());
  }
}

TEST_F(Npy, scalar_and_empty) {
  save_npy(file("s.npy"), Tensor::scalar_i64(int64_t{1} << 62));
  EXPECT_EQ(load_npy(file("s.npy")).i64_values(), std::vector<int64_t>{int64_t{1} << 62});
  save_npy(file("e.npy"), Tensor(DType::f32, {0, 5}));
  EXPECT_EQ(load_npy(file("e.npy")).dims(), (Dims{0, 5}));
}

TEST_F(Npy, damaged_files_are_errors) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const struct {
    std::string bytes, message;
  } cases[] = {
      {"", "not a .npy file"},
      {std::string("\x93NUMPY\x09\x00\x00\x00\x00\x00", 12), "format 9"},
      {std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "the file ends before it"},
      {npy(good, "1234"), "4 bytes of elements"},
      {npy(good, "123456789"), "9 bytes of elements"},
      {npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "12345678"), "element type '>f4'"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "12345678"), "records"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", "12345678"), "Fortran order"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", ""), "non-negative"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }", ""), ""},
      {npy("{'descr': '<f4', 'fortran_order': False}", ""), "no 'shape'"},
  };
  for (const auto& c : cases) {
    write("x.npy", c.bytes);
    const Error error = error_of([&] { load_npy(file("x.npy")); });
    EXPECT_NE(std::string(error.what()), "no error") << c.message;
    EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
  }
  EXPECT_EQ(error_of([&] { load_npy(file("missing.npy")); }).code(), ErrorCode::io);
  EXPECT_EQ(error_of([&] { save_npy(file("x.npy"), Tensor(DType::bf16, {1})); }).code(), ErrorCode::unsupported);
}

TEST_F(Pictures, png_keeps_every_pixel) {
  Image image(5, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * 7 + 1);
  save_png(file("x.png"), image);
  const Image back = load_image(file("x.png"));
  EXPECT_EQ(back.width, 5);
  EXPECT_EQ(back.height, 3);
  EXPECT_EQ(back.pixels, image.pixels);
}

TEST_F(Pictures, what_is_no_picture_is_an_error) {
  write("x.png", "not a picture");
  EXPECT_EQ(error_of([&] { load_image(file("x.png")); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { load_image(file("none.png")); }).code(), ErrorCode::io);
}

TEST_F(Pictures, truncated_and_oversized_headers_are_errors) {
  save_png(file("x.png"), Image(64, 64, {1, 2, 3}));
  auto bytes = read_file(file("x.png"));
  bytes[16] = 0, bytes[17] = 0, bytes[18] = 0x1f, bytes[19] = 0x40;  // the width: 8000
  bytes[20] = 0, bytes[21] = 0, bytes[22] = 0x1f, bytes[23] = 0x40;
  write_file(file("big.png"), bytes);
  EXPECT_NE(std::string(error_of([&] { load_image(file("big.png")); }).what()).find("pixels in"), std::string::npos);
}

TEST(Resize, constant_stays_constant_and_means_are_kept) {
  const Image grey(17, 11, {90, 90, 90});
  for (const uint8_t v : resize(grey, 5, 29).pixels) EXPECT_EQ(v, 90);
  Image stripes(64, 2);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 64; ++x) stripes.at(x, y)[0] = x % 2 ? 200 : 0;
  }
  const Image small = resize(stripes, 8, 2);  // every output pixel averages whole stripes: no aliasing
  for (int x = 1; x < 7; ++x) EXPECT_NEAR(small.at(x, 0)[0], 100, 1);
}

TEST(Fit, letterbox_pads_and_maps_back) {
  const Image wide(200, 100, {255, 0, 0});
  Fit how;
  const Image out = fit(wide, 64, 64, FitMode::letterbox, &how);
  EXPECT_EQ(out.at(32, 2)[0], 114);
  EXPECT_EQ(out.at(32, 32)[0], 255);
  EXPECT_EQ(out.at(32, 32)[1], 0);
  const Box box = to_picture({0, 16, 64, 48, 1, 0}, how, wide);
  EXPECT_NEAR(box.x1, 200, 1e-3);
  EXPECT_NEAR(box.y0, 0, 1e-3);
  EXPECT_NEAR(box.y1, 100, 1e-3);
}

TEST(Fit, crop_keeps_the_middle) {
  Image image(30, 10);
  for (int y = 0; y < 10; ++y) {
    for (int x = 10; x < 20; ++x) image.at(x, y)[1] = 250;
  }
  const Image out = fit(image, 10, 10, FitMode::crop);
  EXPECT_EQ(out.at(5, 5)[1], 250);
  EXPECT_EQ(out.at(0, 5)[1], 250);
}

TEST(ToTensor, normalises_and_orders_channels) {
  const Image image(1, 1, {255, 51, 0});
  const Tensor rgb = to_tensor(image, {.mean = {0.5, 0.5, 0.5}, .std = {0.5, 0.5, 0.5}});
  EXPECT_EQ(rgb.dims(), (Dims{1, 3, 1, 1}));
  EXPECT_FLOAT_EQ(rgb.as<float>()[0], 1.0f);
  EXPECT_FLOAT_EQ(rgb.as<float>()[1], -0.6f);
  EXPECT_FLOAT_EQ(rgb.as<float>()[2], -1.0f);
  const Tensor bgr = to_tensor(image, {.scale = 1, .bgr = true, .channels_last = true});
  EXPECT_EQ(bgr.dims(), (Dims{1, 1, 1, 3}));
  EXPECT_FLOAT_EQ(bgr.as<float>()[2], 255.0f);
}

TEST(Boxes, yolov5_rows_become_boxes) {
  const Tensor t =
      Tensor::of<float>(DType::f32, {1, 2, 7}, {50, 40, 20, 10, 0.9f, 0.1f, 0.8f, 50, 40, 20, 10, 0.1f, 0.9f, 0.9f});
  const auto boxes = decode(Head::yolov5, {t}, 100, 100, 0.25f);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_FLOAT_EQ(boxes[0].x0, 40);
  EXPECT_FLOAT_EQ(boxes[0].y1, 45);
  EXPECT_FLOAT_EQ(boxes[0].score, 0.72f);
  EXPECT_EQ(boxes[0].label, 1);
}

TEST(Boxes, picodet_distances_are_expectations) {
  // One level of 2x2 cells of 8 pixels; cell 3 has its weight on distance 1 to every side.
  Tensor scores(DType::f32, {1, 4, 1}), distances(DType::f32, {1, 4, 8});
  for (int i = 0; i < 4; ++i) scores.mutable_as<float>()[i] = i == 3 ? 0.9f : 0.0f;
  for (int i = 0; i < 32; ++i) distances.mutable_as<float>()[i] = i % 2 ? 40.0f : 0.0f;
  const auto boxes = decode(Head::picodet, {scores, distances}, 16, 16, 0.5f);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_NEAR(boxes[0].x0, 4, 1e-3);
  EXPECT_NEAR(boxes[0].x1, 20, 1e-3);
}

TEST(Boxes, wrong_layout_names_what_it_needs) {
  const std::string message = error_of([] { decode(Head::yolov8, {Tensor(DType::f32, {1, 3})}, 8, 8, 0.1f); }).what();
  EXPECT_EQ(message, "head yolov8: outputs f32[1,3]; it needs one output f32[1,4+classes,n]");
}

TEST(Boxes, suppress_keeps_the_best_of_each_label) {
  const std::vector<Box> boxes = {
      {0, 0, 10, 10, 0.5f, 1}, {1, 0, 11, 10, 0.9f, 1}, {0, 0, 10, 10, 0.4f, 2}, {50, 50, 60, 60, 0.3f, 1}};
  const auto kept = suppress(boxes, 0.5f);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_FLOAT_EQ(kept[0].score, 0.9f);
  EXPECT_EQ(kept[1].label, 2);
  EXPECT_FLOAT_EQ(kept[2].score, 0.3f);
}

TEST(Boxes, not_a_number_is_dropped) {
  const float nan = std::nanf("");
  const Tensor t = Tensor::of<float>(DType::f32, {1, 2, 6}, {nan, 0, 5, 5, 0.9f, 0, 0, 0, 5, 5, 0.9f, nan});
  EXPECT_EQ(decode(Head::xyxy, {t}, 8, 8, 0.5f).size(), 1u);
}

std::string wav(int channels, int bits, const std::vector<int16_t>& samples, int claimed = -1) {
  const auto little = [](int value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
    return out;
  };
  const int size = static_cast<int>(samples.size()) * 2;
  return "RIFF" + little(36 + size, 4) + "WAVEfmt " + little(16, 4) + little(1, 2) + little(channels, 2) +
         little(16000, 4) + little(32000 * channels, 4) + little(2 * channels, 2) + little(bits, 2) + "data" +
         little(claimed < 0 ? size : claimed, 4) +
         std::string(reinterpret_cast<const char*>(samples.data()), samples.size() * 2);
}

using Sounds = Folder;

TEST_F(Sounds, channels_are_averaged) {
  write("x.wav", wav(2, 16, {16384, 0, -32768, -32768}));
  const Sound sound = load_wav(file("x.wav"));
  EXPECT_EQ(sound.rate, 16000);
  EXPECT_EQ(sound.samples, (std::vector<float>{0.25f, -1.0f}));
}

TEST_F(Sounds, a_claimed_size_past_the_end_is_not_believed) {
  write("x.wav", wav(1, 16, {1, 2, 3}, 0x7fffffff));
  EXPECT_EQ(load_wav(file("x.wav")).samples.size(), 3u);
}

TEST_F(Sounds, other_files_are_errors) {
  for (const std::string& bytes : {std::string("RIFF"), std::string(40, 'x'), wav(0, 16, {1}), wav(1, 8, {1, 2})}) {
    write("x.wav", bytes);
    EXPECT_EQ(error_of([&] { load_wav(file("x.wav")); }).code(), ErrorCode::invalid_argument);
  }
}

TEST(Resample, keeps_a_tone) {
  Sound sound{22050, std::vector<float>(22050)};
  for (size_t i = 0; i < sound.samples.size(); ++i) {
    sound.samples[i] = std::sin(2 * 3.14159265f * 220 * static_cast<float>(i) / 22050);
  }
  const Sound out = resample(sound, 16000);
  ASSERT_EQ(out.samples.size(), 16000u);
  // Linear interpolation errs by up to (2 pi f / rate)^2 / 8 = 5e-4, averaging two taps by half of that.
  constexpr double kRadians = 2 * 3.14159265358979 * 220;
  for (size_t i = 100; i < 15900; ++i) {
    EXPECT_NEAR(out.samples[i], std::sin(kRadians * ((static_cast<double>(i) + 0.5) / 16000 - 0.5 / 22050)), 1e-3);
  }
}

TEST(Draw, stays_inside_the_picture) {
  Image image(20, 10);
  draw_rectangle(image, {-5, -5}, {100, 100}, {255, 0, 0});
  draw_line(image, {-1e30, 0}, {1e30, 5}, {255, 0, 0});
  draw_label(image, 500, -3, "caf\xc3\xa9", {1, 2, 3});
  EXPECT_EQ(text_width("caf\xc3\xa9", 1), 4 * 6);
  EXPECT_EQ(image.pixels.size(), 600u);
}

}  // namespace
}  // namespace trine::media
