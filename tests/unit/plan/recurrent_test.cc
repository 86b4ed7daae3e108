// Recurrent operators with sequence lengths, peepholes and clips run by dnn's rows, and agree with the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "graph/eval.h"
#include "graph/infer.h"
#include "plan/executor.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr double kTolerance = 1e-5;  // values are below 1, sums have under 40 terms

struct Case {
  std::string op, attrs;
  int gates;
  bool lengths = false, peepholes = false;
};

std::string graph_text(const Case& c) {
  std::string inputs = "%x %w %r %b";
  std::string text = "graph(%x: f32[6,3,9], %n: i32[3]) {\n";
  const auto constant = [&](std::string_view name, const std::string& type, int seed) {
    text += fmt::format("  %{} = const {} random({})\n", name, type, seed);
  };
  constant("w", fmt::format("f32[2,{},9]", c.gates * 20), 1);
  constant("r", fmt::format("f32[2,{},20]", c.gates * 20), 2);
  constant("b", fmt::format("f32[2,{}]", c.gates * 40), 3);
  if (c.peepholes) constant("p", "f32[2,60]", 4);
  if (c.lengths || c.peepholes) inputs += c.lengths ? " %n" : " _";
  if (c.peepholes) inputs += " _ _ %p";
  return text + fmt::format("  %y, %h = {} {} {{hidden_size=20, direction=\"bidirectional\"{}}}\n  return %y, %h\n}}\n",
                            c.op, inputs, c.attrs);
}

class Ran {
 public:
  explicit Ran(const Case& c) : text_(graph_text(c)), graph_(std::make_shared<Graph>(Graph::parse(text_))) {
    infer_shapes(*graph_);
    // Recurrent weights whose rows add up to about 1: with larger ones a rounding error grows from step to step.
    for (Value& v : graph_->values)
      if (v.name == "r") v.constant = scaled(v.constant, 1.0 / 16);
    for (ValueId id : graph_->inputs) types_.push_back(graph_->type(id));
    std::shared_ptr<Plan> plan = make_plan(graph_, {});
    EXPECT_EQ(choose_rows(*plan, types_), "");
    executor_ = std::make_unique<Executor>(plan, nullptr);
  }

  std::vector<Datum> inputs(const std::vector<int64_t>& lengths) const {
    std::mt19937 random(seed_);
    std::normal_distribution<double> normal;
    std::vector<double> x(6 * 3 * 9);
    for (double& v : x) v = normal(random);
    return {Tensor::from_f64(DType::f32, {6, 3, 9}, x), Tensor::from_i64(DType::i32, {3}, lengths)};
  }
  std::vector<Datum> run(const std::vector<Datum>& inputs) { return executor_->run(inputs); }
  bool by_rows() {
    for (const Call& call : executor_->prepare_for(types_).calls)
      if (call.row && call.row->op == dnn::OpKind::rnn) return true;
    return false;
  }
  void compare() {
    const std::vector<Datum> given = inputs({6, 0, 4}), want = evaluate(*graph_, given), got = run(given);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::vector<double> a = got[i].tensor().f64_values(), b = want[i].tensor().f64_values();
      ASSERT_EQ(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k)
        ASSERT_NEAR(a[k], b[k], kTolerance) << "output " << i << " element " << k << ", seed " << seed_ << "\n"
                                            << text_;
    }
  }

 private:
  static Tensor scaled(const Tensor& t, double factor) {
    std::vector<double> values = t.f64_values();
    for (double& v : values) v *= factor;
    return Tensor::from_f64(t.dtype(), t.dims(), values);
  }

  const unsigned seed_ = std::random_device{}();
  std::string text_;
  std::shared_ptr<Graph> graph_;
  std::vector<Type> types_;
  std::unique_ptr<Executor> executor_;
};

// Whether the node ran by a row of dnn; its values are the reference's either way.
bool check(const Case& c) {
  Ran ran(c);
  ran.compare();
  return ran.by_rows();
}

TEST(Recurrent, RunsByRows) {
  for (bool lengths : {false, true})
    for (const char* clip : {"", ", clip=0.3"}) {
      EXPECT_TRUE(check({"lstm", clip, 4, lengths, false}));
      EXPECT_TRUE(check({"lstm", clip, 4, lengths, true}));
      EXPECT_TRUE(check({"gru", clip, 3, lengths}));
      EXPECT_TRUE(check({"gru", std::string(clip) + ", linear_before_reset=1", 3, lengths}));
      EXPECT_TRUE(check({"rnn", clip, 1, lengths}));
    }
  EXPECT_FALSE(check({"lstm", ", clip=0.0", 4}));  // everything becomes 0: left to the reference
}

TEST(Recurrent, LengthsOutOfRangeThrow) {
  Ran ran({"lstm", "", 4, true});
  EXPECT_TRUE(ran.by_rows());
  for (int64_t bad : {-1, 7}) EXPECT_THROW(ran.run(ran.inputs({6, bad, 4})), Error);
}

}  // namespace
}  // namespace trine
