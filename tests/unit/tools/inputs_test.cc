// What --input and --shapes accept, and what terminals and reports are given.
#include "trine/inputs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "media/npy.h"
#include "trine/base/error.h"
#include "trine/latency.h"
#include "trine/terminal.h"

namespace trine::cli {
namespace {

IoInfo info(const std::string& name, const std::string& type) { return {name, Type::parse(type)}; }

std::string message_of(const std::vector<IoInfo>& declared, const InputOptions& options) {
  try {
    make_inputs(declared, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Shapes, fixed_and_ranges) {
  const auto ranges = parse_shapes({"x=1..8..32x3x224x224", "y=2..4"});
  EXPECT_EQ(ranges.at("x")[0], (DimRange{1, 8, 32}));
  EXPECT_EQ(ranges.at("x")[3], (DimRange{224, 224, 224}));
  EXPECT_EQ(ranges.at("y")[0], (DimRange{2, 4, 4}));
}

TEST(Shapes, mistakes_are_named) {
  for (const char* text : {"x", "=1x2", "x=1xtwo", "x=-1", "x=8..1", "x=1..2..3..4", "x=99999999999999999999"}) {
    EXPECT_THROW(parse_shapes({text}), Error) << text;
  }
}

TEST(Inputs, one_symbol_has_one_size_everywhere) {
  const std::vector<IoInfo> declared = {info("a", "f32[N,T]"), info("b", "f32[N,2*T]")};
  const auto inputs = make_inputs(declared, {.shapes = {"a=3x5"}});
  EXPECT_EQ(inputs.tensors.at("a").dims(), (Dims{3, 5}));
  EXPECT_EQ(inputs.tensors.at("b").dims(), (Dims{3, 10}));
}

TEST(Inputs, an_open_batch_is_one_and_other_open_sizes_are_asked_for) {
  EXPECT_EQ(make_inputs({info("x", "f32[N,3]")}, {}).tensors.at("x").dims(), (Dims{1, 3}));
  EXPECT_EQ(message_of({info("x", "f32[N,T]")}, {}),
            "input x: f32[N,T] has open dimensions; give their sizes, such as --shapes x=1x256");
  EXPECT_EQ(message_of({info("image", "f32[N,3,H,W]")}, {}),
            "input image: f32[N,3,H,W] has open dimensions; give their sizes, such as --shapes image=1x3x224x224");
  EXPECT_EQ(message_of({info("a", "f32[N,T]"), info("b", "f32[M,2*T]")}, {.specs = {"b=rand"}}),
            "input a: f32[N,T] has open dimensions; give their sizes, such as --shapes a=1x256");
}

// The shape that the message suggests is accepted.
TEST(Inputs, the_suggested_shape_works) {
  for (const char* type : {"f32[N,3,H,W]", "f32[N,H,W,3]", "f32[2,T,80]", "i64[N,T,2*T]"}) {
    const std::vector<IoInfo> declared = {info("x", type)};
    const std::string message = message_of(declared, {});
    const size_t at = message.rfind("x=");
    ASSERT_NE(at, std::string::npos) << message;
    EXPECT_EQ(message_of(declared, {.shapes = {message.substr(at)}}), "no error") << type;
  }
}

TEST(Inputs, numbers_keep_all_bits) {
  const auto inputs = make_inputs({info("sr", "i64[]"), info("ids", "i64[1,T]"), info("t", "f32[3]")},
                                  {.specs = {"sr=9007199254740993", "ids=[4,5,6]", "t=[0.5,1,-2e3]"}});
  EXPECT_EQ(inputs.tensors.at("sr").i64_values(), std::vector<int64_t>{9007199254740993});
  EXPECT_EQ(inputs.tensors.at("sr").rank(), 0);
  EXPECT_EQ(inputs.tensors.at("ids").dims(), (Dims{1, 3}));
  EXPECT_EQ(inputs.tensors.at("t").f64_values(), (std::vector<double>{0.5, 1, -2000}));
}

TEST(Inputs, lists_may_hold_spaces_words_and_lists) {
  const auto inputs =
      make_inputs({info("a", "f32[3]"), info("b", "i32[N,M]"), info("c", "bool[2]"), info("d", "u64[]")},
                  {.specs = {"a=[1, 2, 3]", "b=[[1,-2],[3, 4], [5,6]]", "c=[true,false]", "d=18446744073709551615"}});
  EXPECT_EQ(inputs.tensors.at("a").f64_values(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(inputs.tensors.at("b").dims(), (Dims{3, 2}));
  EXPECT_EQ(inputs.tensors.at("b").i64_values(), (std::vector<int64_t>{1, -2, 3, 4, 5, 6}));
  EXPECT_EQ(inputs.tensors.at("c").i64_values(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(inputs.tensors.at("d").as<uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(make_inputs({info("x", "f32[N]")}, {.specs = {"[1,2,3]"}}).tensors.at("x").elements(), 3);
}

TEST(Inputs, numbers_outside_the_type_are_refused) {
  const auto refused = [](const char* type, const char* number, const char* accepted) {
    EXPECT_EQ(message_of({info("x", type)}, {.specs = {std::string("x=") + number}}),
              std::string("input x: ") + number + " for " + type + "; " + accepted);
  };
  refused("i32[]", "99999999999", "-2147483648 to 2147483647 are accepted");
  refused("u8[]", "300", "0 to 255 are accepted");
  refused("u8[]", "-1", "0 to 255 are accepted");
  refused("bool[]", "2", "0 to 1 are accepted");
  refused("i64[]", "9223372036854775808", "-9223372036854775808 to 9223372036854775807 are accepted");
  refused("f16[]", "70000", "it is too large for f16");
  EXPECT_EQ(message_of({info("x", "i64[]")}, {.specs = {"x=-9223372036854775808"}}), "no error");
}

TEST(Inputs, an_empty_value_and_uneven_lists_are_refused) {
  const std::vector<IoInfo> one = {info("x", "f32[N,M]")};
  const char* accepted = "no value; NAME=file.npy, a .jpg or .png, rand, a number or [1,2,3] is accepted";
  EXPECT_EQ(message_of(one, {.specs = {""}}), std::string("--input: ") + accepted);
  EXPECT_EQ(message_of(one, {.specs = {"x="}}), std::string("--input x=: ") + accepted);
  for (const char* text : {"[[1,2],[3]]", "[1,[2]]", "[[1],2]", "[[],[1]]"})
    EXPECT_NE(message_of(one, {.specs = {text}}).find("lists of different lengths"), std::string::npos) << text;
  for (const char* text : {"[1,2", "1,2", "[1,,2]", "[1 2]", "[1]]", "[", "]", "[1,]", "--1"})
    EXPECT_NE(message_of(one, {.specs = {text}}).find("accepted: file.npy"), std::string::npos) << text;
  EXPECT_EQ(message_of({info("x", "f32[2,3]")}, {.specs = {"[[1,2],[3,4]]"}}),
            "input x: lists of shape [2,2] for f32[2,3]; the declared shape is accepted, or one plain list");
}

TEST(Inputs, a_picture_fills_the_batch) {
  media::Image image(5, 4);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * 37);
  const std::string path = testing::TempDir() + "trine_batch.png";
  media::save_png(path, image);
  const auto inputs = make_inputs({info("x", "f32[N,3,H,W]")}, {.specs = {path}, .shapes = {"x=3x3x4x5"}});
  const Tensor& x = inputs.tensors.at("x");
  ASSERT_EQ(x.dims(), (Dims{3, 3, 4, 5}));
  for (int64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(x.as<float>()[i], x.as<float>()[60 + i]);
    EXPECT_EQ(x.as<float>()[i], x.as<float>()[120 + i]);
  }
}

TEST(Inputs, a_tensor_keeps_to_the_sizes_asked_for) {
  EXPECT_EQ(message_of({info("x", "f32[N,M]")}, {.specs = {"x=[[1,2],[3,4]]"}, .shapes = {"x=8x2"}}),
            "input x: [2,2] is given, and --shapes says 8 in dimension 0; make them agree");
  EXPECT_EQ(message_of({info("x", "f32[N,M]")}, {.specs = {"x=[[1,2],[3,4]]"}, .shapes = {"x=1..8x2"}}), "no error");
}

TEST(Inputs, a_file_of_another_type_is_named) {
  const std::string path = testing::TempDir() + "trine_type.npy";
  media::save_npy(path, Tensor::from_f64(DType::f64, {2}, {1, 2}));
  EXPECT_EQ(message_of({info("x", "f32[2]")}, {.specs = {"x=" + path}}),
            "input x: " + path + " holds f64[2], the model takes f32[2]; save it with numpy's x.astype('float32')");
}

TEST(Inputs, mistakes_are_named) {
  const std::vector<IoInfo> two = {info("a", "f32[2]"), info("b", "f32[2]")};
  EXPECT_EQ(message_of(two, {.specs = {"rand"}}), "--input rand: which input?; the model's inputs: a b");
  EXPECT_EQ(message_of(two, {.specs = {"c=rand"}}), "--input c=rand: no input 'c'; the model's inputs: a b");
  EXPECT_EQ(message_of(two, {.specs = {"a=rand", "a=rand:3"}}), "--input a=rand:3: a is given twice");
  EXPECT_EQ(
      message_of(two, {.specs = {"a=hello"}}),
      "input a: 'hello' for f32[2]; accepted: file.npy, a .jpg or .png, rand, a number, true, [1,2,3], [[1,2],[3,4]]");
  EXPECT_EQ(message_of(two, {.shapes = {"q=1"}}), "--shapes q: no such input; see trine inspect");
  EXPECT_EQ(message_of(two, {.shapes = {"a=1x2"}}), "--shapes a: 2 sizes; the model declares f32[2]");
}

TEST(Inputs, a_seed_repeats_and_seeds_differ) {
  const Tensor a = random_tensor(DType::f32, {1000}, 5), b = random_tensor(DType::f32, {1000}, 5);
  EXPECT_EQ(a.f64_values(), b.f64_values());
  EXPECT_NE(a.f64_values(), random_tensor(DType::f32, {1000}, 6).f64_values());
  for (const int64_t v : random_tensor(DType::i64, {100}, 1).i64_values()) EXPECT_TRUE(v == 0 || v == 1);
}

TEST(Latency, percentiles_interpolate) {
  const Latency l = summarise({4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(l.median, 3);
  EXPECT_DOUBLE_EQ(l.p10, 1.4);
  EXPECT_DOUBLE_EQ(l.p90, 4.6);
  EXPECT_EQ(l.n, 5u);
  EXPECT_EQ(summarise({}).n, 0u);
  EXPECT_EQ(to_json(l).dump(), R"({"median":3.0,"p10":1.4,"p90":4.6,"p99":4.96,"n":5})");
}

TEST(Terminal, amounts_and_tables) {
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(count_text(4.1e9), "4.10 G");
  EXPECT_EQ(seconds_text(0.0035), "3.50 ms");
  EXPECT_EQ(seconds_text(200), "3 min 20 s");
  Table table({"name", "ms"});
  table.add({"conv", "12.5"});
  table.add({"add", "1"});
  EXPECT_EQ(table.text(), "name    ms\nconv  12.5\nadd      1\n");
}

}  // namespace
}  // namespace trine::cli
