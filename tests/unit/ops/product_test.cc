// Matrix products, einsum, determinant: rank rules, exact integers, empty operands, and reports that became tests.
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

Attrs equation(const std::string& text) { return attributes({{"equation", text}}); }

TEST(MatMul, NumpyRankRules) {
  const Tensor m = floats({2, 3}, {1, 2, 3, 4, 5, 6}), v = floats({1, 10, 100}), u = floats({1, 2});
  EXPECT_EQ(run_op("matmul", {m, v})[0].dims(), (Dims{2}));
  EXPECT_EQ(reals("matmul", {m, v}), (Reals{321, 654}));
  EXPECT_EQ(reals("matmul", {u, m}), (Reals{9, 12, 15}));
  EXPECT_EQ(run_op("matmul", {v, v})[0].dims(), (Dims{}));
  EXPECT_EQ(reals("matmul", {v, v}), (Reals{10101}));
  const Tensor batch = as(DType::f32, {2, 1, 1, 2}, {1, 2, 3, 4}),
               other = as(DType::f32, {3, 2, 1}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(run_op("matmul", {batch, other})[0].dims(), (Dims{2, 3, 1, 1}));
  EXPECT_EQ(reals("matmul", {batch, other}), (Reals{1, 2, 3, 3, 4, 7}));
  EXPECT_THROW(run_op("matmul", {m, m}), Error);
  EXPECT_THROW(run_op("matmul", {as(DType::f32, {}, {1}), m}), Error);
}

TEST(MatMul, IntegersWrapAndKeepAllBits) {
  const Tensor big = ints(DType::i64, {1, 1}, {(int64_t{1} << 53) + 1}), one = ints(DType::i64, {1, 1}, {1});
  EXPECT_EQ(integers("matmul", {big, one}), (Integers{(int64_t{1} << 53) + 1}));
  EXPECT_EQ(integers("matmul", {ints(DType::i64, {1, 1}, {INT64_MAX}), ints(DType::i64, {1, 1}, {2})}), (Integers{-2}));
}

// report C3: a dimension of 0 is no work, not a crash; K = 0 gives zeros
TEST(MatMul, ReportC3EmptyOperands) {
  EXPECT_EQ(run_op("matmul", {Tensor(DType::f32, {1, 0, 1030}), as(DType::f32, {1030, 768}, Reals(1030 * 768, 1.0))})[0]
                .dims(),
            (Dims{1, 0, 768}));
  EXPECT_EQ(reals("matmul", {Tensor(DType::f32, {2, 0}), Tensor(DType::f32, {0, 2})}), (Reals{0, 0, 0, 0}));
}

TEST(FusedMatMul, TransposesScalesAndFinishes) {
  const Tensor a = floats({2, 1}, {1, 2}), b = floats({1, 2}, {3, 4}), bias = floats({-20}),
               residual = floats({1, 1}, {100});
  const Attrs attrs = attributes(
      {{"trans_a", int64_t{1}}, {"trans_b", int64_t{1}}, {"alpha", 2.0}, {"activation", std::string("relu")}});
  EXPECT_EQ(reals("fused_matmul", {a, b, bias}, attrs), (Reals{2}));
  EXPECT_EQ(reals("fused_matmul", {a, b, bias, residual}, attrs), (Reals{102}));
  const Tensor x = floats({2, 3, 1}, {1, 2, 3, 4, 5, 6}), y = floats({3, 1, 1}, {1, 10, 100});
  // transBatchA: [rows, batch, K] instead of [batch, rows, K]
  const Tensor z = run_op("contrib_fused_matmul", {x, y}, attributes({{"transBatchA", int64_t{1}}}))[0];
  EXPECT_EQ(z.dims(), (Dims{3, 2, 1}));
  EXPECT_EQ(z.f64_values(), (Reals{1, 4, 20, 50, 300, 600}));
}

TEST(Gemm, BroadcastsCAndScales) {
  const Tensor a = floats({2, 1}, {1, 2}), b = floats({1, 2}, {3, 4});
  EXPECT_EQ(reals("gemm", {a, b, floats({2, 1}, {10, 20})}, attributes({{"alpha", 2.0}, {"beta", 0.5}})),
            (Reals{11, 13, 22, 26}));
  EXPECT_EQ(reals("gemm", {b, a, floats({5})}, attributes({{"transA", int64_t{1}}, {"transB", int64_t{1}}})),
            (Reals{8, 11, 9, 13}));
  EXPECT_EQ(
      integers("gemm", {ints(DType::i64, {1, 1}, {(int64_t{1} << 53) + 1}), ints(DType::i64, {1, 1}, {1}), i64s({1})}),
      (Integers{(int64_t{1} << 53) + 2}));
  // beta 0 does not read c
  EXPECT_EQ(reals("gemm", {a, b, floats({kNan})}, attributes({{"beta", 0.0}})), (Reals{3, 4, 6, 8}));
  EXPECT_THROW(run_op("gemm", {a, b, floats({3, 1}, {1, 2, 3})}), Error);
}

// report B1: b - zero_point does not fit int8
TEST(MatMulInteger, ReportB1IsExact) {
  const Tensor a = ints(DType::u8, {3, 3}, {238, 115, 94, 245, 111, 102, 158, 225, 48}),
               b = ints(DType::i8, {3, 3}, {25, 36, 125, 42, -123, 76, -81, -86, 35});
  EXPECT_EQ(integers("matmul_integer", {a, b, ints(DType::u8, {}, {42}), ints(DType::i8, {}, {-26})}),
            (Integers{12100, 1951, 40214, 11745, 2293, 41351, 18030, -10919, 36548}));
  // one zero point for each row of a and column of b
  EXPECT_EQ(integers("matmul_integer", {ints(DType::u8, {2, 1}, {5, 7}), ints(DType::i8, {1, 2}, {1, 2}),
                                        ints(DType::u8, {2}, {1, 2}), ints(DType::i8, {2}, {0, 1})}),
            (Integers{4, 4, 5, 5}));
}

TEST(MatMulInteger, ContribForms) {
  const auto one = [](float v) { return as(DType::f32, {}, {v}); };
  const Tensor a = ints(DType::u8, {1, 2}, {3, 5}), b = ints(DType::i8, {2, 2}, {1, -2, 3, 4});
  EXPECT_EQ(reals("matmul_integer_to_float",
                  {a, b, one(0.5), floats({1, 2}), ints(DType::u8, {}, {1}), Tensor(), floats({100, 200})}),
            (Reals{107, 212}));
  // 0..255 is quantised without loss
  EXPECT_EQ(reals("dynamic_quantize_matmul", {floats({1, 2}, {0, 255}), b, one(1)}), (Reals{765, 1020}));
  const auto q = [](int64_t v) { return ints(DType::u8, {}, {v}); };
  EXPECT_EQ(integers("qlinear_matmul", {a, one(1), q(0), ints(DType::u8, {2, 1}, {1, 1}), one(1), q(0), one(16), q(7)}),
            (Integers{7}));  // 0.5 -> 0
}

TEST(MatMulNBits, UnpacksBlocks) {
  // K = 17 takes two blocks of 16; N = 1; low nibble first, zero point 8
  std::vector<int64_t> packed(16, 0x88);
  packed[0] = 0x9A;  // k0 = 2, k1 = 1
  packed[8] = 0x83;  // k16 = -5, second block
  const Tensor b = ints(DType::u8, {1, 2, 8}, packed), scales = floats({2, 10});
  const Attrs attrs =
      attributes({{"K", int64_t{17}}, {"N", int64_t{1}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}});
  Reals a(17, 1.0);
  a[1] = 100;
  EXPECT_EQ(reals("matmul_nbits", {as(DType::f32, {1, 17}, a), b, scales}, attrs), (Reals{2 * 2 + 100 * 2 - 50}));
  EXPECT_THROW(run_op("matmul_nbits", {as(DType::f32, {1, 17}, a), b, floats({1})}, attrs), Error);
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 62, INT64_MAX}) {
    Attrs wrong = attrs;
    wrong.set("N", bad);
    EXPECT_THROW(run_op("matmul_nbits", {as(DType::f32, {1, 17}, a), b, scales}, wrong), Error) << bad;
  }
}

TEST(Einsum, DiagonalsEllipsisAndImplicitOutput) {
  const Tensor m = floats({2, 2}, {1, 2, 3, 4}), t = floats({2, 2, 1}, {1, 2, 3, 4});
  EXPECT_EQ(reals("einsum", {m}, equation("ii->i")), (Reals{1, 4}));
  EXPECT_EQ(reals("einsum", {m}, equation("ii")), (Reals{5}));
  EXPECT_EQ(reals("einsum", {m}, equation("ji")), (Reals{1, 3, 2, 4}));
  EXPECT_EQ(reals("einsum", {m, m}, equation("ij, jk -> ik")), (Reals{7, 10, 15, 22}));
  EXPECT_EQ(reals("einsum", {m, m, m}, equation("ij,jk,kl->il")), (Reals{37, 54, 81, 118}));
  EXPECT_EQ(reals("einsum", {t}, equation("...i->...")), (Reals{1, 2, 3, 4}));
  EXPECT_EQ(run_op("einsum", {t, floats({5, 6})}, equation("...,i->...i"))[0].dims(), (Dims{2, 2, 1, 2}));
  EXPECT_EQ(integers("einsum", {i64s({INT64_MAX, 1}), i64s({1, 1})}, equation("i,i->")), (Integers{INT64_MIN}));
  EXPECT_EQ(reals("einsum", {Tensor(DType::f32, {2, 0}), Tensor(DType::f32, {0, 1})}, equation("ij,jk")),
            (Reals{0, 0}));
}

TEST(Einsum, WrongEquationsAreErrors) {
  const Tensor m = floats({2, 2}, {1, 2, 3, 4}), v = floats({1, 2, 3});
  for (const char* text : {"ij,jk", "i", "ij->k", "ij->ii", "i.j", "...i...", "", "->", "ijk"})
    EXPECT_THROW(run_op("einsum", {m}, equation(text)), Error) << text;
  EXPECT_THROW(run_op("einsum", {m, v}, equation("ij,j->i")), Error);
}

TEST(Det, PivotsAndBatches) {
  EXPECT_EQ(reals("det", {floats({2, 2, 2}, {0, 1, 1, 0, 1, 2, 3, 4})}), (Reals{-1, -2}));
  EXPECT_EQ(reals("det", {floats({3, 3}, {1, 2, 3, 2, 4, 6, 1, 1, 1})}), (Reals{0}));
  EXPECT_EQ(reals("det", {Tensor(DType::f32, {0, 0})}), (Reals{1}));
  EXPECT_THROW(run_op("det", {floats({2, 1}, {1, 2})}), Error);
}

}  // namespace
}  // namespace trine
