// Shape arithmetic as exporters write it folds to expressions over the input's symbols.
#include "graph/infer.h"
#include "run_op.h"

namespace trine {
namespace {

using namespace test;

struct Builder {
  Graph graph;

  ValueId input(const char* type) { return graph.add_input("", Type::parse(type)); }
  ValueId ints(const std::vector<int64_t>& values) { return graph.add_constant(i64s(values)); }
  ValueId scalar(int64_t value) { return graph.add_constant(Tensor::scalar_i64(value)); }
  ValueId node(std::string_view name, std::vector<ValueId> inputs, Attrs attrs = {}) {
    return graph.add_node(op(name), std::move(inputs), std::move(attrs));
  }
  std::string type(ValueId id) {
    infer_shapes(graph);
    return graph.type(id).text();
  }
};

TEST(ShapeArithmetic, FlattenAsPyTorchExportsIt) {  // x.view(x.size(0), -1)
  Builder b;
  const ValueId x = b.input("f32[N,12,64]");
  const ValueId n = b.node("gather", {b.node("shape", {x}), b.scalar(0)});
  const ValueId shape =
      b.node("concat", {b.node("unsqueeze", {n, b.ints({0})}), b.ints({-1})}, attributes({{"axis", int64_t{0}}}));
  EXPECT_EQ(b.type(b.node("reshape", {x, shape})), "f32[N,768]");
}

TEST(ShapeArithmetic, MinusOneDividesPolynomials) {
  Builder b;
  const ValueId x = b.input("f32[N,T,768]");
  EXPECT_EQ(b.type(b.node("reshape", {x, b.ints({0, -1, 12, 64})})), "f32[N,T,12,64]");
  const ValueId y = b.node("reshape", {x, b.ints({-1, 768})});
  EXPECT_EQ(b.type(y), "f32[N*T,768]");
  EXPECT_EQ(b.type(b.node("reshape", {y, b.ints({-1, 4})})), "f32[192*N*T,4]");
}

TEST(ShapeArithmetic, SlicesOfSymbolicSize) {
  Builder b;
  const ValueId x = b.input("f32[N,T]"), axes = b.ints({1});
  const auto slice = [&](int64_t start, int64_t end, int64_t step = 1) {
    return b.type(b.node("slice", {x, b.ints({start}), b.ints({end}), axes, b.ints({step})}));
  };
  EXPECT_EQ(slice(0, INT64_MAX), "f32[N,T]");
  EXPECT_EQ(slice(-1, INT64_MIN, -1), "f32[N,T]");
  const Bindings t5 = [](std::string_view) { return 5; };
  const auto size = [&](int64_t start, int64_t end, int64_t step = 1) {
    const Type type = Type::parse(slice(start, end, step));
    return type.shape[1].evaluate(t5).value();
  };
  EXPECT_EQ(size(1, INT64_MAX), 4);
  EXPECT_EQ(size(9, INT64_MAX), 0);
  EXPECT_EQ(size(0, -2), 3);
  EXPECT_EQ(size(-3, INT64_MAX), 3);
  EXPECT_EQ(size(-9, INT64_MAX), 5);
  EXPECT_EQ(size(1, 3), 2);
  EXPECT_EQ(size(0, INT64_MAX, 2), 3);
}

TEST(ShapeArithmetic, RangeExpandAndConstantOfShapeFollowTheSymbol) {
  Builder b;
  const ValueId x = b.input("i64[N,T]");
  const ValueId t = b.node("gather", {b.node("shape", {x}), b.scalar(1)});
  EXPECT_EQ(b.type(b.node("range", {b.scalar(0), t, b.scalar(1)})), "i64[T]");
  const ValueId shape = b.node("shape", {x}, attributes({{"start", int64_t{0}}, {"end", int64_t{2}}}));
  EXPECT_EQ(b.type(b.node("expand", {b.input("f32[1,1]"), shape})), "f32[N,T]");
  EXPECT_EQ(b.type(b.node("constant_of_shape", {shape})), "f32[N,T]");
  EXPECT_EQ(b.type(b.node("tile", {x, b.ints({1, 3})})), "i64[N,3*T]");
}

TEST(ShapeArithmetic, UnknownRankIsNoError) {  // onnx#3013
  Builder b;
  const ValueId unknown = b.input("f32[*]"), known = b.input("f32[2,3,4]");
  Graph& g = b.graph;
  const ValueId joined = b.node("concat", {unknown, known}, attributes({{"axis", int64_t{2}}}));
  infer_shapes(g);
  ASSERT_EQ(g.type(joined).shape.rank(), 3);
  EXPECT_EQ(g.type(joined).shape[1], Dim(3));
}

TEST(ShapeArithmetic, SqueezeKeepsItsRank) {  // hidet#90
  Builder b;
  EXPECT_EQ(b.type(b.node("squeeze", {b.input("f32[N,1,8]"), b.ints({1})})), "f32[N,8]");
}

}  // namespace
}  // namespace trine
