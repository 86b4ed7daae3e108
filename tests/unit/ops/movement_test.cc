// Data movement: index rules, negative and absurd amounts, empty tensors, every element type.
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Integers = std::vector<int64_t>;

Tensor counting(Dims dims, DType type = DType::i64) {
  std::vector<int64_t> values(static_cast<size_t>(element_count(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  return Tensor::from_i64(type, std::move(dims), values);
}

Tensor strings(Dims dims, std::vector<std::string> values) {
  return Tensor::of_strings(std::move(dims), std::move(values));
}

TEST(Slice, StepsAndClampsLikeTheStandard) {
  const Tensor x = counting({10});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return integers("slice", {x, i64s({start}), i64s({end}), i64s({0}), i64s({step})});
  };
  EXPECT_EQ(slice(2, 8, 3), (Integers{2, 5}));
  EXPECT_EQ(slice(-1, INT64_MIN, -4), (Integers{9, 5, 1}));
  EXPECT_EQ(slice(INT64_MAX, INT64_MIN, INT64_MIN), (Integers{9}));
  EXPECT_EQ(slice(3, INT64_MAX, INT64_MAX), (Integers{3}));
  EXPECT_EQ(slice(5, 5, 1), (Integers{}));
  EXPECT_EQ(slice(8, 2, 1), (Integers{}));
  EXPECT_THROW(slice(0, 1, 0), Error);
}

TEST(Slice, EmptyAxisBackwards) {  // onnx#6180's neighbour onnx#7735: clamp(lo > hi)
  const Tensor y = run_op("slice", {counting({0, 2}), i64s({-1}), i64s({INT64_MIN}), i64s({0}), i64s({-1})})[0];
  EXPECT_EQ(y.dims(), (Dims{0, 2}));
}

TEST(Concat, EmptyInputAndSingleInput) {  // ORT#681, TVM#11895
  EXPECT_EQ(integers("concat", {i64s({}), i64s({1, 2})}, attributes({{"axis", int64_t{0}}})), (Integers{1, 2}));
  EXPECT_EQ(integers("concat", {counting({1, 3})}, attributes({{"axis", int64_t{1}}})), (Integers{0, 1, 2}));
  EXPECT_THROW(run_op("concat", {counting({2, 3}), counting({2, 4})}, attributes({{"axis", int64_t{0}}})), Error);
  EXPECT_THROW(run_op("concat", {counting({}), counting({})}, attributes({{"axis", int64_t{0}}})), Error);
}

TEST(Split, SizesOrNumber) {
  const auto parts = run_op("split", {counting({5})}, attributes({{"num_outputs", int64_t{3}}}), 3);
  EXPECT_EQ(parts[0].i64_values(), (Integers{0, 1}));
  EXPECT_EQ(parts[2].i64_values(), (Integers{4}));
  const auto given = run_op("split", {counting({2, 4}), i64s({0, 3, 1})}, attributes({{"axis", int64_t{-1}}}), 3);
  EXPECT_EQ(given[0].dims(), (Dims{2, 0}));
  EXPECT_EQ(given[1].i64_values(), (Integers{0, 1, 2, 4, 5, 6}));
  EXPECT_THROW(run_op("split", {counting({5}), i64s({2, 2})}, {}, 2), Error);
  EXPECT_THROW(run_op("split", {counting({5}), i64s({-1, 6})}, {}, 2), Error);
}

TEST(Transpose, EveryElementTypeMovesWhole) {
  for (int t = 1; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    if (type == DType::string || is_complex(type)) continue;
    const Tensor x = ints(type, {2, 3}, {0, 1, 0, 1, 1, 0});
    const Tensor y = run_op("transpose", {x})[0];
    EXPECT_EQ(y.dims(), (Dims{3, 2})) << name(type);
    EXPECT_EQ(y.f64_values(), ints(type, {3, 2}, {0, 1, 1, 1, 0, 0}).f64_values()) << name(type);
  }
  EXPECT_EQ(run_op("transpose", {strings({1, 2}, {"a", "b"})})[0].strings(), (std::vector<std::string>{"a", "b"}));
  EXPECT_THROW(run_op("transpose", {counting({2, 2})}, attributes({{"perm", Integers{0, 0}}})), Error);
}

TEST(Transpose, AgreesWithIndexArithmetic) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int trial = 0; trial < 30; ++trial) {
    Integers perm{0, 1, 2, 3};
    std::shuffle(perm.begin(), perm.end(), random);
    Dims dims;
    for (int i = 0; i < 4; ++i) dims.push_back(1 + static_cast<int64_t>(random() % 4));
    const Tensor x = counting(dims), y = run_op("transpose", {x}, attributes({{"perm", perm}}))[0];
    const auto values = y.i64_values();
    int64_t at = 0;
    Dims i(4);
    for (i[0] = 0; i[0] < y.dim(0); ++i[0])
      for (i[1] = 0; i[1] < y.dim(1); ++i[1])
        for (i[2] = 0; i[2] < y.dim(2); ++i[2])
          for (i[3] = 0; i[3] < y.dim(3); ++i[3]) {
            int64_t want = 0;
            for (int64_t axis = 0; axis < 4; ++axis)
              for (size_t k = 0; k < 4; ++k)
                if (perm[k] == axis) want = want * dims[static_cast<size_t>(axis)] + i[k];
            ASSERT_EQ(values[static_cast<size_t>(at++)], want);
          }
  }
}

TEST(Reshape, ZeroCopiesMinusOneIsWorkedOut) {
  const auto shape = [](const Tensor& x, const Integers& target, int64_t allow_zero = 0) {
    return run_op("reshape", {x, i64s(target)}, attributes({{"allowzero", allow_zero}}))[0].dims();
  };
  EXPECT_EQ(shape(counting({2, 3, 4}), {0, -1}), (Dims{2, 12}));
  EXPECT_EQ(shape(counting({7, 0}), {-1}), (Dims{0}));  // OV#37965
  EXPECT_EQ(shape(counting({0, 3}), {0, 3}, 1), (Dims{0, 3}));
  EXPECT_EQ(shape(counting({1}), {}), (Dims{}));
  EXPECT_THROW(shape(counting({0, 3}), {0, -1}, 1), Error);
  EXPECT_THROW(shape(counting({2, 3}), {-1, -1}), Error);
  EXPECT_THROW(shape(counting({2, 3}), {4, -1}), Error);
  EXPECT_THROW(shape(counting({2, 3}), {-2, 3}), Error);
  EXPECT_THROW(shape(counting({6}), {INT64_MAX, 4}), Error);
}

TEST(Squeeze, OnlyUnitAxesGo) {
  EXPECT_EQ(run_op("squeeze", {counting({1, 3, 1}), i64s({-1})})[0].dims(), (Dims{1, 3}));
  EXPECT_EQ(run_op("squeeze", {counting({1, 3, 1})})[0].dims(), (Dims{3}));
  EXPECT_THROW(run_op("squeeze", {counting({1, 3}), i64s({1})}), Error);
  EXPECT_EQ(run_op("unsqueeze", {counting({3}), i64s({-1, 0})})[0].dims(), (Dims{1, 3, 1}));
  EXPECT_THROW(run_op("unsqueeze", {counting({3}), i64s({0, -3})}), Error);
}

TEST(Gather, IndicesWrapOnceAndAreChecked) {
  EXPECT_EQ(integers("gather", {counting({2, 3}), i64s({-1, 0})}, attributes({{"axis", int64_t{1}}})),
            (Integers{2, 0, 5, 3}));
  for (int64_t bad : {3, -4}) EXPECT_THROW(run_op("gather", {counting({3}), i64s({bad})}), Error);
  EXPECT_THROW(run_op("gather_elements", {counting({3}), i64s({-4})}), Error);
  EXPECT_THROW(run_op("gather_nd", {counting({2, 3}), ints(DType::i64, {1, 2}, {1, 3})}), Error);
  EXPECT_THROW(run_op("scatter_elements", {counting({3}), i64s({3}), i64s({9})}), Error);
  EXPECT_THROW(run_op("scatter_nd", {counting({3}), ints(DType::i64, {1, 1}, {-4}), i64s({9})}), Error);
  EXPECT_THROW(run_op("array_feature_extractor", {counting({10, 1}), i64s({-10})}), Error);  // ORT#27265
}

TEST(GatherNd, BatchDims) {  // OV#30797
  const Tensor y = run_op("gather_nd", {counting({2, 2, 4}), ints(DType::i64, {2, 1, 1}, {1, 0})},
                          attributes({{"batch_dims", int64_t{1}}}))[0];
  EXPECT_EQ(y.dims(), (Dims{2, 1, 4}));
  EXPECT_EQ(y.i64_values(), (Integers{4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Scatter, ReductionsIn64Bits) {
  const auto scatter = [](const std::string& how, const Tensor& x, const Tensor& updates) {
    return integers("scatter_elements", {x, i64s({0, 0}), updates}, attributes({{"reduction", how}}));
  };
  EXPECT_EQ(scatter("add", i64s({INT64_MAX, 7}), i64s({1, 1})), (Integers{INT64_MIN + 1, 7}));
  EXPECT_EQ(scatter("mul", i64s({3, 7}), i64s({5, 2})), (Integers{30, 7}));
  EXPECT_EQ(scatter("max", ints(DType::u64, {2}, {5, 7}), ints(DType::u64, {2}, {-1, 3})), (Integers{-1, 7}));
  EXPECT_EQ(scatter("min", i64s({3, 7}), i64s({-5, 2})), (Integers{-5, 7}));
  expect_near(reals("scatter_nd", {floats({1, 2}), ints(DType::i64, {2, 1}, {1, 1}), floats({kNan, 9})},
                    attributes({{"reduction", std::string("max")}})),
              {1, kNan});
}

TEST(Pad, ModesAndNegativeAmounts) {
  const auto pad = [](const std::string& mode, const Integers& pads, const Tensor& x) {
    return integers("pad", {x, i64s(pads)}, attributes({{"mode", mode}}));
  };
  const Tensor x = counting({4});
  EXPECT_EQ(pad("constant", {1, -2}, x), (Integers{0, 0, 1}));
  EXPECT_EQ(pad("edge", {2, 1}, x), (Integers{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(pad("reflect", {5, 2}, x), (Integers{1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1}));
  EXPECT_EQ(pad("wrap", {1, 5}, x), (Integers{3, 0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(pad("reflect", {-1, 1}, x), (Integers{1, 2, 3, 2}));
  EXPECT_EQ(pad("constant", {-6, 3}, x), (Integers{0}));  // 4 - 6 + 3
  EXPECT_THROW(pad("constant", {-3, -3}, x), Error);
  EXPECT_THROW(pad("edge", {1, 0}, i64s({})), Error);
  EXPECT_EQ(integers("pad", {x, i64s({1, 0}), i64s({9})}), (Integers{9, 0, 1, 2, 3}));
}

TEST(Range, CountsWithoutOverflow) {
  const auto scalar = [](int64_t v) { return ints(DType::i64, {}, {v}); };
  EXPECT_EQ(integers("range", {scalar(10), scalar(4), scalar(-2)}), (Integers{10, 8, 6}));
  EXPECT_EQ(integers("range", {scalar(INT64_MIN), scalar(INT64_MAX), scalar(INT64_MAX)}),
            (Integers{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(integers("range", {scalar(5), scalar(5), scalar(1)}), (Integers{}));
  EXPECT_THROW(run_op("range", {scalar(0), scalar(1), scalar(0)}), Error);
  EXPECT_THROW(run_op("range", {scalar(0), scalar(INT64_MAX), scalar(1)}), Error);
}

TEST(OneHot, NegativeWrapsOutsideIsOff) {
  EXPECT_EQ(integers("one_hot", {i64s({1, -1, 3, -4}), i64s({3}), i64s({5, 6})}),
            (Integers{5, 6, 5, 5, 5, 6, 5, 5, 5, 5, 5, 5}));
}

TEST(EyeLike, DiagonalMayMiss) {
  EXPECT_EQ(integers("eye_like", {counting({2, 3})}, attributes({{"k", int64_t{-1}}})), (Integers{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(integers("eye_like", {counting({2, 2})}, attributes({{"k", INT64_MIN}})), (Integers{0, 0, 0, 0}));
  EXPECT_EQ(integers("eye_like", {counting({2, 2})}, attributes({{"k", INT64_MAX}})), (Integers{0, 0, 0, 0}));
}

TEST(TopK, TiesAndNan) {
  const auto y = run_op("top_k", {floats({1, 3, 3, kNan, 2}), i64s({3})}, {}, 2);
  expect_near(y[0].f64_values(), {kNan, 3, 3});
  EXPECT_EQ(y[1].i64_values(), (Integers{3, 1, 2}));
  EXPECT_THROW(run_op("top_k", {floats({1}), i64s({2})}, {}, 2), Error);
  EXPECT_EQ(run_op("top_k", {floats({1}), i64s({0})}, {}, 2)[1].dims(), (Dims{0}));
}

TEST(Unique, SlicesAndFirstPlaces) {
  const auto y = run_op("unique", {ints(DType::i64, {3, 2}, {2, 1, 0, 5, 2, 1})},
                        attributes({{"axis", int64_t{0}}, {"sorted", int64_t{0}}}), 4);
  EXPECT_EQ(y[0].i64_values(), (Integers{2, 1, 0, 5}));
  EXPECT_EQ(y[1].i64_values(), (Integers{0, 1}));
  EXPECT_EQ(y[2].i64_values(), (Integers{0, 1, 0}));
  EXPECT_EQ(y[3].i64_values(), (Integers{2, 1}));
}

TEST(DepthToSpace, IsTheInverseOfSpaceToDepth) {
  const Tensor x = counting({2, 8, 3, 2});
  for (const char* mode : {"DCR", "CRD"}) {
    const Attrs attrs = attributes({{"blocksize", int64_t{2}}, {"mode", std::string(mode)}});
    const Tensor wide = run_op("depth_to_space", {x}, attrs)[0];
    EXPECT_EQ(wide.dims(), (Dims{2, 2, 6, 4}));
    EXPECT_EQ(run_op("space_to_depth", {wide}, attrs)[0].i64_values(), x.i64_values());
  }
}

TEST(Expand, SizesAndZeros) {
  EXPECT_EQ(run_op("expand", {counting({3, 1}), i64s({2, 1, 4})})[0].dims(), (Dims{2, 3, 4}));
  EXPECT_EQ(run_op("expand", {counting({1}), i64s({0})})[0].dims(), (Dims{0}));
  EXPECT_THROW(run_op("expand", {counting({3}), i64s({2})}), Error);
  EXPECT_THROW(run_op("expand", {counting({1}), i64s({-1})}), Error);
  EXPECT_EQ(integers("tile", {counting({2}), i64s({2})}), (Integers{0, 1, 0, 1}));
}

TEST(TensorScatter, CircularWritesWrap) {
  const Tensor y = run_op("tensor_scatter", {counting({1, 4, 1}), ints(DType::i64, {1, 2, 1}, {8, 9}), i64s({3})},
                          attributes({{"mode", std::string("circular")}}))[0];
  EXPECT_EQ(y.i64_values(), (Integers{9, 1, 2, 8}));
  EXPECT_THROW(run_op("tensor_scatter", {counting({1, 4, 1}), counting({1, 2, 1}), i64s({3})}), Error);
}

}  // namespace
}  // namespace trine
