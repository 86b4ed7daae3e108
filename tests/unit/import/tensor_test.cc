// Every way in which a TensorProto may hold its elements.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "import/onnx/import.h"
#include "model_builder.h"
#include "trine/base/error.h"

namespace trine::test {
namespace {

namespace fs = std::filesystem;

GraphText only(const Bytes& initializer) { return {{}, {}, {value_info_without_shape("w", kFloat)}, {initializer}}; }

Tensor constant(const Bytes& initializer) {
  const ImportedModel m = import_onnx_bytes(model({.graph = only(initializer)}));
  return m.graph.value(m.graph.outputs.at(0)).constant;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string error_for(const Bytes& initializer) {
  return error_of([&] { constant(initializer); });
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Tensors, RawDataOfEachWidth) {
  EXPECT_EQ(constant(raw_tensor("w", kFloat, {2}, raw<float>({1.5f, -2}))).f64_values(),
            (std::vector<double>{1.5, -2}));
  EXPECT_EQ(constant(raw_tensor("w", kDouble, {1}, raw<double>({0.1}))).f64_values(), (std::vector<double>{0.1}));
  EXPECT_EQ(constant(raw_tensor("w", kInt64, {1}, raw<int64_t>({INT64_MIN}))).i64_values(),
            (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(constant(raw_tensor("w", kInt8, {3}, raw<int8_t>({-1, 2, -128}))).i64_values(),
            (std::vector<int64_t>{-1, 2, -128}));
  EXPECT_EQ(constant(raw_tensor("w", kBool, {3}, std::string("\0\1\7", 3))).i64_values(),
            (std::vector<int64_t>{0, 1, 1}));
}

TEST(Tensors, SmallTypesInInt32Data) {
  EXPECT_EQ(constant(int32_data_tensor("w", kFloat16, {2}, {0x3c00, 0xc000})).f64_values(),
            (std::vector<double>{1, -2}));
  EXPECT_EQ(constant(int32_data_tensor("w", 16, {1}, {0x3f80})).f64_values(), (std::vector<double>{1})) << "bfloat16";
  EXPECT_EQ(constant(int32_data_tensor("w", kInt8, {2}, {-1, 5})).i64_values(), (std::vector<int64_t>{-1, 5}));
  EXPECT_EQ(constant(int32_data_tensor("w", kBool, {2}, {0, 9})).i64_values(), (std::vector<int64_t>{0, 1}));
}

// Packed from the least significant bits on; an odd count leaves the rest of the last byte unused.
TEST(Tensors, SubByteTypesAreUnpacked) {
  constexpr int kUint4 = 21, kInt4 = 22, kUint2 = 25, kInt2 = 26, kFloat4 = 23, kFloat6 = 27;
  const std::string packed("\x8f\x02", 2);
  EXPECT_EQ(constant(raw_tensor("w", kUint4, {3}, packed)).i64_values(), (std::vector<int64_t>{15, 8, 2}));
  EXPECT_EQ(constant(raw_tensor("w", kInt4, {3}, packed)).i64_values(), (std::vector<int64_t>{-1, -8, 2}));
  EXPECT_EQ(constant(int32_data_tensor("w", kInt4, {3}, {0x8f, 2})).i64_values(), (std::vector<int64_t>{-1, -8, 2}));
  EXPECT_EQ(constant(raw_tensor("w", kUint2, {5}, std::string("\xe4\x03", 2))).i64_values(),
            (std::vector<int64_t>{0, 1, 2, 3, 3}));
  EXPECT_EQ(constant(raw_tensor("w", kInt2, {5}, std::string("\xe4\x03", 2))).i64_values(),
            (std::vector<int64_t>{0, 1, -2, -1, -1}));
  EXPECT_EQ(constant(raw_tensor("w", kFloat4, {2}, "\xf2")).f64_values(), (std::vector<double>{1, -6}));
  // Four 6-bit elements 1, 2, 3, 63 of e2m3: 0x01 | 0x02 << 6 | 0x03 << 12 | 0x3f << 18.
  EXPECT_EQ(constant(raw_tensor("w", kFloat6, {4}, std::string("\x81\x30\xfc", 3))).f64_values(),
            (std::vector<double>{0.125, 0.25, 0.375, -7.5}));
}

TEST(Tensors, AlignedRawDataIsNotCopied) {
  const std::string path = testing::TempDir() + "/aligned.onnx";
  const std::vector<float> values(1000, 0.5f);
  // One of eight names of growing length puts the data on a multiple of 4.
  int in_place = 0;
  for (int pad = 0; pad < 8; ++pad) {
    GraphText g = only(raw_tensor("w", kFloat, {1000}, raw(values)));
    g.nodes.push_back({.op = "Identity", .inputs = {"w"}, .outputs = {std::string(static_cast<size_t>(pad) + 1, 'n')}});
    std::ofstream(path, std::ios::binary) << model({.graph = g});
    const ImportedModel m = import_onnx(path);
    const Tensor& t = m.graph.value(m.graph.outputs.at(0)).constant;
    EXPECT_EQ(t.f64_values(), std::vector<double>(1000, 0.5));
    in_place += reinterpret_cast<uintptr_t>(t.data()) % 64 != 0;  // our own memory is 64-byte aligned
  }
  EXPECT_GE(in_place, 1);
}

TEST(Tensors, SparseBecomesDense) {
  const Bytes values = float_tensor("w", {2}, {5, 6});
  for (const Bytes& indices : {int64_tensor("", {2}, {1, 5}), int64_tensor("", {2, 2}, {0, 1, 1, 2})}) {
    GraphText g{{}, {}, {value_info_without_shape("w", kFloat)}};
    g.sparse_initializers = {sparse_tensor(values, indices, {2, 3})};
    const ImportedModel m = import_onnx_bytes(model({.graph = g}));
    const Tensor t = m.graph.value(m.graph.outputs.at(0)).constant;
    EXPECT_EQ(t.dims(), (Dims{2, 3}));
    EXPECT_EQ(t.f64_values(), (std::vector<double>{0, 5, 0, 0, 0, 6}));
  }
}

TEST(Tensors, SparseIndicesAndSizesAreChecked) {
  const auto import = [](const Bytes& indices, const std::vector<int64_t>& dims) {
    GraphText g{{}, {}, {value_info_without_shape("w", kFloat)}};
    g.sparse_initializers = {sparse_tensor(float_tensor("w", {1}, {5}), indices, dims)};
    return error_of([&] { import_onnx_bytes(model({.graph = g})); });
  };
  EXPECT_HAS(import(int64_tensor("", {1}, {6}), {2, 3}), "index 0 lies outside [2,3]");
  EXPECT_HAS(import(int64_tensor("", {1}, {-1}), {2, 3}), "index 0 lies outside [2,3]");
  EXPECT_HAS(import(int64_tensor("", {1, 2}, {0, 3}), {2, 3}), "index 0 lies outside [2,3]");
  EXPECT_HAS(import(int64_tensor("", {2}, {0, 1}), {2, 3}), "indices i64[2]");
  EXPECT_HAS(import(int64_tensor("", {1}, {0}), {int64_t{1} << 40}), "far more than the model's size justifies");
}

TEST(Tensors, DeclaredSizesAreHeldToTheFile) {
  EXPECT_HAS(error_for(raw_tensor("w", kFloat, {1000}, "1234")),
             "initializer 'w': f32[1000] needs 4000 bytes; the file holds 4");
  EXPECT_HAS(error_for(raw_tensor("w", kFloat, {1}, "12345678")), "needs 4 bytes; the file holds 8");
  EXPECT_HAS(error_for(float_tensor("w", {int64_t{1} << 40}, {1})), "needs 1099511627776 floats; the file holds 1");
  EXPECT_HAS(error_for(float_tensor("w", {-4}, {1})), "negative dimension -4");
  EXPECT_HAS(error_for(float_tensor("w", {int64_t{1} << 32, int64_t{1} << 32}, {1})), "more than 2^47 elements");
  EXPECT_HAS(error_for(float_tensor("w", std::vector<int64_t>(40, 1), {1})), "rank 40 exceeds");
  EXPECT_HAS(error_for(raw_tensor("w", 999, {1}, "1234")), "initializer 'w': unknown elem_type 999");
  EXPECT_HAS(error_for(raw_tensor("w", 0, {1}, "1234")), "has no data type");
  EXPECT_HAS(error_for(raw_tensor("w", kString, {1}, "1234")), "strings as raw");
}

// External data: report D5 and every way out of the folder.

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(folder_ / "sub");
    write(folder_ / "data.bin", raw<float>({1, 2, 3, 4}));
    write(folder_ / "sub" / "more.bin", raw<float>({5, 6}));
    write(root_ / "secret.bin", raw<float>({7, 8}));
    fs::create_symlink(root_ / "secret.bin", folder_ / "link.bin");
    fs::create_directory_symlink(root_, folder_ / "linkdir");
    fs::create_hard_link(root_ / "secret.bin", folder_ / "hard.bin");
    ::mkfifo((folder_ / "pipe").c_str(), 0600);
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  Tensor read(const std::vector<std::pair<std::string, std::string>>& entries, int64_t count = 2) const {
    write(folder_ / "m.onnx", model({.graph = only(external_tensor("w", {count}, entries))}));
    const ImportedModel m = import_onnx((folder_ / "m.onnx").string());
    return m.graph.value(m.graph.outputs.at(0)).constant;
  }
  std::string error(const std::vector<std::pair<std::string, std::string>>& entries) const {
    return error_of([&] { read(entries); });
  }

  fs::path root_ = fs::path(testing::TempDir()) / fmt::format("external_{}", ::getpid());
  fs::path folder_ = root_ / "model";
};

TEST_F(ExternalData, IsReadAtItsOffset) {
  EXPECT_EQ(read({{"location", "data.bin"}}, 4).f64_values(), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(read({{"location", "data.bin"}, {"offset", "8"}, {"length", "8"}}).f64_values(),
            (std::vector<double>{3, 4}));
  EXPECT_EQ(read({{"location", "sub/more.bin"}}).f64_values(), (std::vector<double>{5, 6}));
  EXPECT_EQ(read({{"location", "./sub//more.bin"}}).f64_values(), (std::vector<double>{5, 6}));
}

TEST_F(ExternalData, UnknownKeysAreIgnored) {
  EXPECT_EQ(read({{"location", "data.bin"}, {"__class__", "x"}, {"checksum", "00"}, {"length", "8"}}).f64_values(),
            (std::vector<double>{1, 2}));
}

TEST_F(ExternalData, StaysInTheFolder) {
  EXPECT_HAS(error({{"location", "../secret.bin"}}), "climbs out of the folder");
  EXPECT_HAS(error({{"location", "sub/../../secret.bin"}}), "climbs out of the folder");
  EXPECT_HAS(error({{"location", (root_ / "secret.bin").string()}}), "is absolute");
  EXPECT_HAS(error({{"location", "link.bin"}}), "symbolic link");
  EXPECT_HAS(error({{"location", "linkdir/secret.bin"}}), "symbolic link");
  EXPECT_HAS(error({{"location", "hard.bin"}}), "hard links");
  EXPECT_HAS(error({{"location", "pipe"}}), "no regular file");
  EXPECT_HAS(error({{"location", "sub"}}), "no regular file");
  EXPECT_HAS(error({{"location", ""}}), "location is empty");
  EXPECT_HAS(error({{"location", std::string("data.bin\0x", 10)}}), "zero byte");
}

TEST_F(ExternalData, SizesAreHeldToTheOpenedFile) {
  EXPECT_HAS(error({{"location", "missing.bin"}}), "cannot be opened: No such file");
  EXPECT_HAS(error({{"location", "data.bin"}, {"offset", "-1"}}), "offset is '-1'");
  EXPECT_HAS(error({{"location", "data.bin"}, {"length", "4611686018427387904"}}), "which has 16");
  EXPECT_HAS(error({{"location", "data.bin"}, {"offset", "99999999999999999999"}}), "a count of bytes is accepted");
  EXPECT_HAS(error({{"location", "data.bin"}, {"offset", "12"}}), "bytes 12 to 12+8");
  EXPECT_HAS(error({{"location", "data.bin"}, {"length", "4"}}), "needs 8 bytes; the file holds 4");
}

TEST_F(ExternalData, ModelInMemoryHasNone) {
  const Bytes bytes = model({.graph = only(external_tensor("w", {2}, {{"location", "data.bin"}}))});
  EXPECT_HAS(error_of([&] { import_onnx_bytes(bytes); }), "read from memory and has no folder");
  const ImportedModel m = import_onnx_bytes(bytes, {}, folder_.string());
  EXPECT_EQ(m.graph.value(m.graph.outputs.at(0)).constant.f64_values(), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace trine::test
