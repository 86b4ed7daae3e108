// Values that live inside others: the answers stay, the copies go, and what cannot move is left alone.
#include "plan/lodge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "graph/eval.h"
#include "graph/infer.h"
#include "plan/executor.h"

namespace trine {
namespace {

constexpr double kTolerance = 2e-5;  // of the largest value; layers of f32 sums of up to 200 products

struct Outcome {
  int copies = 0, lodgers = 0;
};

std::vector<Datum> random_inputs(const Graph& graph, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<Datum> inputs;
  for (ValueId id : graph.inputs) {
    const Dims dims = graph.type(id).shape.static_dims();
    std::vector<double> values(static_cast<size_t>(element_count(dims)));
    for (double& v : values) v = normal(random);
    inputs.emplace_back(Tensor::from_f64(DType::f32, dims, values));
  }
  return inputs;
}

void expect_near(const Tensor& got, const Tensor& want, const std::string& text) {
  ASSERT_EQ(got.dims(), want.dims()) << text;
  const std::vector<double> a = got.f64_values(), b = want.f64_values();
  double largest = 1;
  for (double v : b) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], kTolerance * largest) << "element " << i << text;
}

Outcome check(const std::string& text, unsigned seed) {
  auto graph = std::make_shared<Graph>(Graph::parse(text));
  infer_shapes(*graph);
  std::mt19937 random(seed);
  const std::vector<Datum> inputs = random_inputs(*graph, random);
  const std::vector<Datum> want = evaluate(*graph, inputs);
  std::vector<Type> types;
  for (ValueId id : graph->inputs) types.push_back(graph->type(id));
  ThreadPool pool(2);
  std::shared_ptr<Plan> plan = make_plan(graph, {.threads = 2});
  EXPECT_EQ(choose_rows(*plan, types), "");
  Executor executor(plan, &pool);
  for (int run = 0; run < 2; ++run) {
    const std::vector<Datum> got = executor.run(inputs);
    for (size_t i = 0; i < want.size(); ++i)
      expect_near(got[i].tensor(), want[i].tensor(), fmt::format(" of output {}, seed {}\n{}", i, seed, text));
  }
  const Segment& segment = executor.prepare_for(types);
  Outcome o;
  o.lodgers = static_cast<int>(segment.lodgings.size());
  for (const Call& call : segment.calls)
    o.copies += std::holds_alternative<dnn::CopyProblem>(call.what.problem) && call.row;
  return o;
}

Outcome check(const std::string& text) { return check(text, std::random_device{}()); }

TEST(Lodge, ConvolutionsWriteIntoTheirConcat) {
  const Outcome o = check(R"(graph(%x: f32[2,5,6,16]) {
    %v: f32[24,16,3,3] = const f32[24,16,3,3] random(1)
    %w: f32[32,16,1,1] = const f32[32,16,1,1] random(2)
    %u: f32[8,56,1,1] = const f32[8,56,1,1] random(3)
    %a = conv %x %v {layout="nhwc", pads=[1,1,1,1]}
    %b = conv %x %w {layout="nhwc"}
    %c = concat %a %b {axis=3}
    %y = conv %c %u {layout="nhwc"}
    return %y
  })");
  EXPECT_EQ(o.copies, 0);
  EXPECT_EQ(o.lodgers, 2);
}

TEST(Lodge, ConcatsWithinConcats) {
  const Outcome o = check(R"(graph(%x: f32[1,5,6,16]) {
    %w: f32[32,16,1,1] = const f32[32,16,1,1] random(2)
    %a = conv %x %w {layout="nhwc"}
    %b = max_pool %a {layout="nhwc", kernel_shape=[3,3], pads=[1,1,1,1]}
    %c = concat %a %b {axis=3}
    %d = conv %x %w {layout="nhwc"}
    %e = concat %d %c {axis=3}
    return %e
  })");
  EXPECT_EQ(o.copies, 0);
  EXPECT_EQ(o.lodgers, 4);
}

TEST(Lodge, PartsOfASplitAreReadWhereTheyLie) {
  const Outcome o = check(R"(graph(%x: f32[2,7,48]) {
    %w: f32[48,96] = const f32[48,96] random(1)
    %s: i64[3] = const i64[3]{32,32,32}
    %p = matmul %x %w
    %q, %k, %v = split %p %s {axis=2}
    %y = sdpa %q %k %v {layout="bshd", num_heads=2}
    return %y
  })");
  EXPECT_EQ(o.copies, 0);
  EXPECT_EQ(o.lodgers, 3);
}

// The first convolution of a network reads the image as it comes, when its kernel can; another reader wants the copy.
TEST(Lodge, FirstConvolutionsReadImagesAsTheyCome) {
  const std::string text = R"(graph(%x: f32[2,3,9,8]) {
    %w: f32[16,3,3,3] = const f32[16,3,3,3] random(1)
    %v: f32[16,3,7,7] = const f32[16,3,7,7] random(2)
    %a = transpose %x {perm=[0,2,3,1]}
    %b = conv %a %w {layout="nhwc", strides=[2,2], pads=[1,1,1,1], activation="relu"}
    %c = conv %a %v {layout="nhwc", pads=[3,3,3,3]}
    return %b, %c)";
  EXPECT_EQ(check(text + "\n}").copies, 0);
  EXPECT_EQ(check(text + ", %a\n}").copies, 1);
  EXPECT_EQ(check(R"(graph(%x: f32[2,3,9,8]) {
    %w: f32[16,3,3,3] = const f32[16,3,3,3] random(1)
    %a = transpose %x {perm=[0,2,3,1]}
    %b = conv %a %w {layout="nhwc", pads=[1,1,1,1]}
    %c = exp %a
    return %b, %c
  })")
                .copies,
            1);
  EXPECT_EQ(check(R"(graph(%x: f32[2,4,9,8]) {
    %w: f32[16,4,3,3] = const f32[16,4,3,3] random(1)
    %a = transpose %x {perm=[0,3,2,1]}
    %b = conv %a %w {layout="nhwc", pads=[1,1,1,1]}
    return %b
  })")
                .copies,
            1);
}

// A DenseNet block: every layer writes its channels into one tensor, and reads what is there so far.
TEST(Lodge, DenseBlocksAreOneTensor) {
  const Outcome o = check(R"(graph(%x: f32[2,5,6,16]) {
    %s: f32[16,1,1,1] = const f32[16,1,1,1] random(1)
    %t: f32[24,1,1,1] = const f32[24,1,1,1] random(2)
    %u: f32[24] = const f32[24] random(3)
    %v: f32[8,16,3,3] = const f32[8,16,3,3] random(4)
    %w: f32[8,24,3,3] = const f32[8,24,3,3] random(5)
    %a = max_pool %x {layout="nhwc", kernel_shape=[3,3], pads=[1,1,1,1]}
    %b = conv %a %s {layout="nhwc", group=16, activation="relu"}
    %c = conv %b %v {layout="nhwc", pads=[1,1,1,1]}
    %d = concat %a %c {axis=3}
    %e = conv %d %t %u {layout="nhwc", group=24, activation="relu"}
    %f = conv %e %w {layout="nhwc", pads=[1,1,1,1]}
    %g = concat %d %f {axis=3}
    %y = relu %g
    return %y
  })");
  EXPECT_EQ(o.copies, 0);
  EXPECT_EQ(o.lodgers, 4);
}

// ShuffleNet's blocks: halves of the channels are shuffled from where they lie to where they are wanted.
TEST(Lodge, HalvesOfAShuffleMoveOnce) {
  const Outcome o = check(R"(graph(%x: f32[1,5,6,32]) {
    %w: f32[32,32,1,1] = const f32[32,32,1,1] random(1)
    %v: f32[16,16,1,1] = const f32[16,16,1,1] random(2)
    %s: i64[2] = const i64[2]{8,8}
    %a = conv %x %w {layout="nhwc"}
    %b = reshape_to %a {dims=["1","5","6","2","16"]}
    %c, %d = split %b %s {axis=4}
    %e = transpose %c {perm=[0,1,2,4,3]}
    %f = reshape_to %e {dims=["1","5","6","16"]}
    %g = transpose %d {perm=[0,1,2,4,3]}
    %h = reshape_to %g {dims=["1","5","6","16"]}
    %i = conv %h %v {layout="nhwc"}
    %j = concat %f %i {axis=3}
    %y = conv %j %w {layout="nhwc"}
    return %y
  })");
  EXPECT_EQ(o.copies, 2);  // the transposes
  EXPECT_EQ(o.lodgers, 4);
}

TEST(Lodge, OneRunOfBytesSuitsEveryone) {
  const Outcome o = check(R"(graph(%x: f32[6,5]) {
    %s: i64[2] = const i64[2]{2,4}
    %a, %b = split %x %s {axis=0}
    %c = exp %b
    %d = tanh %a
    %y = concat %c %d {axis=0}
    return %y
  })");
  EXPECT_EQ(o.copies, 0);
  EXPECT_EQ(o.lodgers, 4);
}

TEST(Lodge, AnswersInputsAndSecondPlacesAreCopied) {
  const Outcome o = check(R"(graph(%x: f32[3,4]) {
    %a = exp %x
    %b = tanh %x
    %c = concat %a %x {axis=0}
    %d = concat %b %b {axis=0}
    %y = concat %c %d {axis=0}
    return %y, %a
  })");
  EXPECT_EQ(o.copies, 3);  // a, x and the second b
  EXPECT_EQ(o.lodgers, 3);
}

TEST(Lodge, RowsApartAreNotForLoopsAndReferences) {
  const Outcome o = check(R"(graph(%x: f32[4,6]) {
    %a = exp %x
    %b = tanh %x
    %c = concat %a %b {axis=1}
    %s: i64[2] = const i64[2]{5,7}
    %d, %e = split %c %s {axis=1}
    %f = sin %d
    %g = cos %e
    return %f, %g
  })");
  EXPECT_EQ(o.copies, 4);
}

TEST(Lodge, AResidualKeepsItsPlace) {
  const Outcome o = check(R"(graph(%x: f32[1,4,4,32]) {
    %w: f32[32,32,1,1] = const f32[32,32,1,1] random(2)
    %a = conv %x %w {layout="nhwc"}
    %b = conv %a %w _ %a {layout="nhwc", residual=1}
    %c = concat %a %b {axis=3}
    return %c
  })");
  EXPECT_EQ(o.copies, 2);
}

// Networks of joins and parts at random.
class RandomNetwork {
 public:
  explicit RandomNetwork(unsigned seed) : random_(seed) { add(16, "add %x %x"); }

  std::string text() {
    for (int i = 0; i < 14; ++i) step();
    std::string returned;
    for (size_t i = 0; i < channels_.size(); ++i)
      if (i + 2 >= channels_.size() || below(6) == 0)
        returned += fmt::format("{}%v{}", returned.empty() ? "" : ", ", i);
    return "graph(%x: f32[2,3,4,16]) {\n" + body_ + "return " + returned + "\n}";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  size_t any() { return static_cast<size_t>(below(static_cast<int>(channels_.size()))); }
  void add(int channels, const std::string& made_by) {
    body_ += fmt::format("%v{} = {}\n", channels_.size(), made_by);
    channels_.push_back(channels);
  }

  void step() {
    const size_t a = any(), b = any();
    switch (below(6)) {
      case 0:
      case 1: {
        const int to = 8 * (1 + below(4));
        body_ += fmt::format("%w{}: f32[{},{},1,1] = const f32[{},{},1,1] random({})\n", channels_.size(), to,
                             channels_[a], to, channels_[a], channels_.size());
        return add(to, fmt::format("conv %v{} %w{} {{layout=\"nhwc\", activation=\"relu\"}}", a, channels_.size()));
      }
      case 2:
        return add(channels_[a],
                   fmt::format("max_pool %v{} {{layout=\"nhwc\", kernel_shape=[3,3], pads=[1,1,1,1]}}", a));
      case 3: return add(channels_[a] + channels_[b], fmt::format("concat %v{} %v{} {{axis=3}}", a, b));
      case 4: return add(channels_[a], fmt::format("abs %v{}", a));
      default: return cut(a);
    }
  }
  void cut(size_t a) {
    if (channels_[a] == 1) return add(1, fmt::format("abs %v{}", a));
    const int first = 1 + below(channels_[a] - 1), second = channels_[a] - first;
    const size_t n = channels_.size();
    body_ += fmt::format("%s{}: i64[2] = const i64[2]{{{},{}}}\n%v{}, %v{} = split %v{} %s{} {{axis=3}}\n", n, first,
                         second, n, n + 1, a, n);
    channels_.push_back(first);
    channels_.push_back(second);
  }

  std::mt19937 random_;
  std::string body_;
  std::vector<int> channels_;
};

TEST(Lodge, RandomNetworksKeepTheirAnswers) {
  const unsigned first = std::random_device{}();
  int lodgers = 0;
  for (unsigned seed = first; seed < first + 60 && !HasFatalFailure(); ++seed)
    lodgers += check(RandomNetwork(seed).text(), seed).lodgers;
  EXPECT_GT(lodgers, 60) << "seed " << first;
}

}  // namespace
}  // namespace trine
