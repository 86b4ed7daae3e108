// Batches that go through a run of calls part by part: the same bits as call by call, in less memory.
#include "plan/strips.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "graph/infer.h"
#include "plan/executor.h"
#include "plan/table.h"

namespace trine {
namespace {

// Large enough for parts to pay: 6 images of 64 x 48 x 16. %seen is read within the strip and after it, %k only there;
// %z is an output; the mean of an image scales its channels; %p and %q are halves of one tensor.
constexpr const char* kNetwork = R"(graph(%x: f32[6,64,48,16]) {
    %v: f32[32,16,3,3] = const f32[32,16,3,3] random(1)
    %d: f32[32,1,3,3] = const f32[32,1,3,3] random(2)
    %w: f32[32,32,1,1] = const f32[32,32,1,1] random(3)
    %u: f32[16,64,1,1] = const f32[16,64,1,1] random(4)
    %m: f32[16,8] = const f32[16,8] random(5)
    %seen = conv %x %v {layout="nhwc", pads=[1,1,1,1]}
    %k = conv %seen %d {layout="nhwc", pads=[1,1,1,1], group=32}
    %r = relu %k
    %s = global_average_pool %r {layout="nhwc"}
    %g = sigmoid %s
    %f = mul %r %g
    %p = conv %f %w {layout="nhwc"}
    %q = max_pool %r {layout="nhwc", kernel_shape=[3,3], pads=[1,1,1,1]}
    %c = concat %p %q {axis=3}
    %z = conv %c %u {layout="nhwc"}
    %h = average_pool %seen {layout="nhwc", kernel_shape=[2,2], strides=[2,2]}
    %y = matmul %z %m
    return %y %z %h
  })";

std::vector<Datum> random_inputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
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

std::vector<Type> input_types(const Graph& graph) {
  std::vector<Type> types;
  for (ValueId id : graph.inputs) types.push_back(graph.type(id));
  return types;
}

std::shared_ptr<Plan> planned(const std::string& text) {
  auto graph = std::make_shared<Graph>(Graph::parse(text));
  infer_shapes(*graph);
  std::shared_ptr<Plan> plan = make_plan(graph, {.threads = 1});
  EXPECT_EQ(choose_rows(*plan, input_types(*graph)), "");
  return plan;
}

std::vector<Tensor> run(Executor& executor, const std::vector<Datum>& inputs) {
  std::vector<Tensor> out;
  for (const Datum& d : executor.run(inputs)) out.push_back(d.tensor().clone());
  return out;
}

size_t calls_in_strips(const Segment& segment) {
  size_t calls = 0;
  for (const Strip& strip : segment.strips) calls += strip.last - strip.first;
  return calls;
}

TEST(Strips, AnyNumberOfThreadsGivesTheBitsOfTheWholeBatch) {
  const std::shared_ptr<Plan> plan = planned(kNetwork);
  const unsigned seed = std::random_device{}();
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    Executor parts(plan, &pool), whole(plan, nullptr);
    whole.observe({[](const CallEvent&) {}, /*with_data=*/true});
    for (unsigned turn = 0; turn < 2; ++turn) {
      const std::vector<Datum> inputs = random_inputs(*plan->graph, seed + turn);
      const std::vector<Tensor> got = run(parts, inputs), want = run(whole, inputs);
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(std::memcmp(got[i].data(), want[i].data(), want[i].bytes()), 0)
            << "output " << i << ", threads " << threads << ", seed " << seed + turn;
    }
    const Segment& segment = parts.prepare_for(input_types(*plan->graph));
    EXPECT_GE(calls_in_strips(segment), 6u) << plan_table(*plan, input_types(*plan->graph));
    EXPECT_EQ(segment.strips[0].dealt, threads == 2 || threads == 3);
    EXPECT_TRUE(whole.prepare_for(input_types(*plan->graph)).strips.empty());
    if (threads == 1) {
      EXPECT_LT(parts.arena_bytes(), whole.arena_bytes());
    }
  }
}

TEST(Strips, EveryCallIsTimedOnce) {
  const std::shared_ptr<Plan> plan = planned(kNetwork);
  ThreadPool pool(2);
  Executor executor(plan, &pool);
  std::map<const Call*, int> seen;
  executor.observe({[&](const CallEvent& e) {
    ++seen[e.call];
    EXPECT_GE(e.seconds, 0);
  }});
  executor.run(random_inputs(*plan->graph, 1));
  const Segment& segment = executor.prepare_for(input_types(*plan->graph));
  EXPECT_EQ(seen.size(), segment.calls.size());
  for (const auto& [call, times] : seen) EXPECT_EQ(times, 1);
}

TEST(Strips, SingleImagesAndSmallOnesRunWhole) {
  for (const std::string shape : {"1,64,48,16", "8,4,4,16"}) {
    const std::shared_ptr<Plan> plan = planned(fmt::format(R"(graph(%x: f32[{}]) {{
      %w: f32[32,16,1,1] = const f32[32,16,1,1] random(1)
      %v: f32[16,32,1,1] = const f32[16,32,1,1] random(2)
      %a = conv %x %w {{layout="nhwc"}}
      %y = conv %a %v {{layout="nhwc"}}
      return %y
    }})",
                                                           shape));
    EXPECT_TRUE(Executor(plan, nullptr).prepare_for(input_types(*plan->graph)).strips.empty()) << shape;
  }
}

// A constant that has a row for each image, all of them different, is no strip's own, and no part's.
TEST(Strips, ConstantsByImageAreReadWhole) {
  const std::shared_ptr<Plan> plan = planned(R"(graph(%x: f32[8,14,14,64]) {
    %w: f32[256,64,1,1] = const f32[256,64,1,1] random(1)
    %token: f32[8,1,256] = const f32[8,1,256] random(2)
    %place: f32[1,197,256] = const f32[1,197,256] random(3)
    %a = conv %x %w {layout="nhwc"}
    %shape: i64[3] = const i64[3]{8,196,256}
    %r = reshape %a %shape
    %c = concat %token %r {axis=1}
    %y = add %c %place
    return %y
  })");
  const std::vector<Datum> inputs = random_inputs(*plan->graph, 4);
  Executor whole(plan, nullptr);
  whole.observe({[](const CallEvent&) {}, /*with_data=*/true});
  const Tensor want = run(whole, inputs)[0];
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    Executor parts(plan, &pool);
    const Tensor got = run(parts, inputs)[0];
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0) << threads << " threads";
    EXPECT_GE(calls_in_strips(parts.prepare_for(input_types(*plan->graph))), 2u)
        << plan_table(*plan, input_types(*plan->graph));
  }
}

// What one image's result needs of another one cannot be cut.
TEST(Strips, SumsOverTheBatchStayWhole) {
  const std::shared_ptr<Plan> plan = planned(R"(graph(%x: f32[4,64,64,32]) {
    %w: f32[32,32,1,1] = const f32[32,32,1,1] random(1)
    %a = conv %x %w {layout="nhwc"}
    %m = reduce_mean %a {axes=[0], keepdims=1}
    %b = sub %a %m
    %y = conv %b %w {layout="nhwc"}
    return %y
  })");
  Executor executor(plan, nullptr), whole(plan, nullptr);
  whole.observe({[](const CallEvent&) {}, /*with_data=*/true});
  const std::vector<Datum> inputs = random_inputs(*plan->graph, 3);
  const Tensor got = run(executor, inputs)[0], want = run(whole, inputs)[0];
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0);
  for (const Strip& strip : executor.prepare_for(input_types(*plan->graph)).strips)
    for (size_t c = strip.first; c < strip.last; ++c)
      EXPECT_NE(executor.prepare_for(input_types(*plan->graph)).calls[c].kind, Call::Kind::loop);
}

}  // namespace
}  // namespace trine
