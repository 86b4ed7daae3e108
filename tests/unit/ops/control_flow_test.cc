// Control flow, sequences, optionals: captures, zero trips, shapes that change, scan axes and directions.
#include "base/deadline.h"
#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Integers = std::vector<int64_t>;

Type i64(const char* dims = "") { return Type::parse(std::string("i64[") + dims + "]"); }
Type boolean() { return Type::parse("bool[]"); }
Tensor truth(bool value) { return ints(DType::boolean, {}, {value}); }

// body(i, condition, state) -> (condition_out, state + 1, vector of four)
std::shared_ptr<Graph> counting_body(bool goes_on) {
  auto body = std::make_shared<Graph>();
  body->add_input("i", i64());
  body->add_input("condition", boolean());
  const ValueId state = body->add_input("state", i64());
  const ValueId next = body->add_node(op("add"), {state, body->add_constant(Tensor::scalar_i64(1))});
  body->outputs = {body->add_constant(truth(goes_on)), next, body->add_constant(i64s({1, 2, 3, 4}))};
  return body;
}

Graph loop_of(std::shared_ptr<Graph> body, int64_t m, int outputs = 2) {
  Graph g;
  const ValueId first = g.add_node(
      op("loop"),
      {g.add_constant(Tensor::scalar_i64(m)), g.add_constant(truth(true)), g.add_constant(Tensor::scalar_i64(10))}, {},
      outputs);
  g.nodes[0].bodies = {std::move(body)};
  for (int i = 0; i < outputs; ++i) g.outputs.push_back(first + i);
  infer_shapes(g);
  return g;
}

TEST(Loop, ConditionEndsItBeforeM) {  // modelaudit#1848
  const Graph g = loop_of(counting_body(false), 5);
  const auto y = evaluate(g, {});
  EXPECT_EQ(y[0].tensor().i64_values(), (Integers{11}));
  EXPECT_EQ(y[1].tensor().dims(), (Dims{1, 4}));
  EXPECT_FALSE(g.type(g.outputs[1]).shape[0].is_constant());  // M is no promise
}

TEST(Loop, TripCountIsKnownWhereOnlyMDecides) {
  const Graph g = loop_of(counting_body(true), 3);
  EXPECT_EQ(g.type(g.outputs[1]).text(), "i64[3,4]");
  EXPECT_EQ(evaluate(g, {})[1].tensor().dims(), (Dims{3, 4}));
}

TEST(Loop, ADeadlineEndsALoopThatHasNoEnd) {
  const Graph g = loop_of(counting_body(true), INT64_MAX, 1);
  const Deadline deadline(0.02);
  try {
    evaluate(g, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::timeout) << e.what();
  }
}

TEST(Loop, NoTripsGiveEmptyScans) {
  for (int64_t m : {int64_t{0}, int64_t{-7}, INT64_MIN}) {
    const auto y = evaluate(loop_of(counting_body(true), m), {});
    EXPECT_EQ(y[0].tensor().i64_values(), (Integers{10}));
    EXPECT_EQ(y[1].tensor().dims(), (Dims{0, 4}));
  }
}

TEST(Loop, CarriedShapeMayGrow) {
  auto body = std::make_shared<Graph>();
  body->add_input("i", i64());
  const ValueId condition = body->add_input("condition", boolean()), state = body->add_input("state", i64("*"));
  const ValueId grown =
      body->add_node(op("concat"), {state, body->add_constant(i64s({7}))}, attributes({{"axis", int64_t{0}}}));
  body->outputs = {condition, grown};
  Graph g;
  const ValueId y =
      g.add_node(op("loop"), {g.add_constant(Tensor::scalar_i64(3)), kNoValue, g.add_constant(i64s({1}))});
  g.nodes[0].bodies = {body};
  g.outputs = {y};
  infer_shapes(g);
  ASSERT_EQ(g.type(y).shape.rank(), 1);
  EXPECT_FALSE(g.type(y).shape[0].is_constant());
  EXPECT_EQ(evaluate(g, {})[0].tensor().i64_values(), (Integers{1, 7, 7, 7}));
}

TEST(If, BranchMayReturnACaptureUntouched) {  // ORT#5991
  auto then_branch = std::make_shared<Graph>(), else_branch = std::make_shared<Graph>();
  const ValueId x = then_branch->add_input("x", i64("2"));
  then_branch->outputs = {then_branch->add_node(op("add"), {x, then_branch->add_constant(Tensor::scalar_i64(10))})};
  else_branch->outputs = {else_branch->add_input("x", i64("2"))};
  Graph g;
  const ValueId condition = g.add_input("condition", boolean()), outer = g.add_input("outer", i64("2"));
  const ValueId y = g.add_node(op("if"), {condition, outer});
  g.nodes[0].bodies = {then_branch, else_branch};
  g.nodes[0].captures = 1;
  g.outputs = {y};
  g.verify();
  infer_shapes(g);
  EXPECT_EQ(g.type(y).text(), "i64[2]");
  EXPECT_EQ(evaluate(g, {Datum(truth(true)), Datum(i64s({1, 2}))})[0].tensor().i64_values(), (Integers{11, 12}));
  EXPECT_EQ(evaluate(g, {Datum(truth(false)), Datum(i64s({1, 2}))})[0].tensor().i64_values(), (Integers{1, 2}));
}

TEST(If, BranchesOfOtherShapesJoin) {
  auto two = std::make_shared<Graph>(), three = std::make_shared<Graph>();
  two->outputs = {two->add_constant(i64s({1, 2}))};
  three->outputs = {three->add_constant(i64s({1, 2, 3}))};
  Graph g;
  const ValueId y = g.add_node(op("if"), {g.add_input("condition", boolean())});
  g.nodes[0].bodies = {two, three};
  infer_shapes(g);
  ASSERT_EQ(g.type(y).shape.rank(), 1);
  EXPECT_FALSE(g.type(y).shape[0].is_constant());
}

TEST(If, BranchThatTheseSizesBreakFailsOnlyWhenTaken) {  // silero-vad guards a squeeze with "is the size 1?"
  auto squeezed = std::make_shared<Graph>(), same = std::make_shared<Graph>();
  const ValueId x = squeezed->add_input("x", i64("2"));
  squeezed->outputs = {squeezed->add_node(op("squeeze"), {x, squeezed->add_constant(Tensor::vector_i64({0}))})};
  same->outputs = {same->add_input("x", i64("2"))};
  Graph g;
  const ValueId condition = g.add_input("condition", boolean()), outer = g.add_input("outer", i64("2"));
  const ValueId y = g.add_node(op("if"), {condition, outer});
  g.nodes[0].bodies = {squeezed, same};
  g.nodes[0].captures = 1;
  g.outputs = {y};
  infer_shapes(g);
  EXPECT_EQ(g.type(y).text(), "i64[2]");
  EXPECT_EQ(evaluate(g, {Datum(truth(false)), Datum(i64s({1, 2}))})[0].tensor().i64_values(), (Integers{1, 2}));
  EXPECT_THROW(evaluate(g, {Datum(truth(true)), Datum(i64s({1, 2}))}), Error);
}

TEST(Scan, AxesAndDirections) {
  auto body = std::make_shared<Graph>();
  const ValueId sum = body->add_input("sum", i64()), slice = body->add_input("slice", i64("2"));
  const ValueId first = body->add_node(op("gather"), {slice, body->add_constant(Tensor::scalar_i64(0))});
  const ValueId next = body->add_node(op("add"), {sum, first});
  body->outputs = {next, slice};
  Graph g;
  const ValueId x = g.add_constant(ints(DType::i64, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const ValueId y = g.add_node(op("scan"), {g.add_constant(Tensor::scalar_i64(0)), x},
                               attributes({{"num_scan_inputs", int64_t{1}},
                                           {"scan_input_axes", Integers{-1}},
                                           {"scan_input_directions", Integers{1}},
                                           {"scan_output_axes", Integers{-1}},
                                           {"scan_output_directions", Integers{0}}}),
                               2);
  g.nodes[0].bodies = {body};
  g.outputs = {y, y + 1};
  infer_shapes(g);
  EXPECT_EQ(g.type(y + 1).text(), "i64[2,3]");
  const auto out = evaluate(g, {});
  EXPECT_EQ(out[0].tensor().i64_values(), (Integers{6}));
  EXPECT_EQ(out[1].tensor().i64_values(), (Integers{3, 2, 1, 6, 5, 4}));
}

std::vector<Datum> run(std::string_view name, std::vector<Datum> inputs, Attrs attrs = {}) {
  Graph g;
  std::vector<ValueId> ids;
  for (const Datum& d : inputs) ids.push_back(d.is_none() ? kNoValue : g.add_input("", type_of(d)));
  std::erase_if(inputs, [](const Datum& d) { return d.is_none(); });
  g.outputs = {g.add_node(op(name), ids, std::move(attrs))};
  infer_shapes(g);
  return evaluate(g, std::move(inputs));
}

TEST(Sequence, PositionsCountFromBothEnds) {
  const Datum three = Datum::sequence({i64s({1}), i64s({2}), i64s({3})});
  const auto at = [&](int64_t i) {
    return run("sequence_at", {three, Datum(Tensor::scalar_i64(i))})[0].tensor().i64_values()[0];
  };
  EXPECT_EQ(at(0), 1);
  EXPECT_EQ(at(-1), 3);
  EXPECT_THROW(at(3), Error);
  EXPECT_THROW(at(-4), Error);
  const auto inserted = run("sequence_insert", {three, Datum(i64s({9})), Datum(Tensor::scalar_i64(-3))})[0];
  EXPECT_EQ(inserted.items()[0].tensor().i64_values(), (Integers{9}));
  EXPECT_EQ(run("sequence_erase", {three})[0].items().size(), 2u);
  EXPECT_EQ(run("sequence_length", {three})[0].tensor().i64_values(), (Integers{3}));
}

TEST(Sequence, SplitAndJoin) {
  const Datum x = Datum(ints(DType::i64, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto parts = run("split_to_sequence", {x, Datum(Tensor::scalar_i64(2))}, attributes({{"axis", int64_t{1}}}))[0];
  ASSERT_EQ(parts.items().size(), 2u);
  EXPECT_EQ(parts.items()[1].tensor().dims(), (Dims{2, 1}));
  EXPECT_EQ(run("concat_from_sequence", {parts}, attributes({{"axis", int64_t{1}}}))[0].tensor().i64_values(),
            x.tensor().i64_values());
  const auto rows = run("split_to_sequence", {x}, attributes({{"keepdims", int64_t{0}}}))[0];
  EXPECT_EQ(rows.items()[0].tensor().dims(), (Dims{3}));
  const auto stacked =
      run("concat_from_sequence", {rows}, attributes({{"axis", int64_t{-1}}, {"new_axis", int64_t{1}}}))[0];
  EXPECT_EQ(stacked.tensor().i64_values(), (Integers{1, 4, 2, 5, 3, 6}));
}

TEST(Optional, EmptyIsKnownOnlyAtRunTime) {
  EXPECT_EQ(run("optional_has_element", {Datum()})[0].tensor().i64_values(), (Integers{0}));
  EXPECT_EQ(run("optional_has_element", {Datum(i64s({1}))})[0].tensor().i64_values(), (Integers{1}));
  EXPECT_THROW(run("optional_get_element", {Datum()}), Error);
}

}  // namespace
}  // namespace trine
