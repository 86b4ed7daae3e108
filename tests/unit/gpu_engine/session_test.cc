#include <thread>

#include "models.h"
#include "trine/base/error.h"

namespace trine {
namespace {

using namespace test;

// Nothing but what devices have loops for.
constexpr const char* kLoops = R"(graph(%x: f32[N,33], %z: f32[33]) {
  %a = add %x %z
  %b = relu %a
  %s = softmax %b {axis=1}
  %y = mul %s %x
  return %y, %b
})";

// NonZero's size is in its data: three segments, the last of which reads what the first made.
constexpr const char* kSegments = R"(graph(%x: f32[N,4]) {
  %a = relu %x
  %i = non_zero %a
  %f = cast %i {to="f32"}
  %g = relu %f
  %j = non_zero %g
  %h = cast %j {to="f32"}
  %b = add %a %x
  return %h, %b, %g
})";

TEST(DeviceSession, RunsLikeTheReferenceForEveryBatch) {
  const Engine engine = engine_of(kNetwork);
  Session session(engine, {.threads = 1, .device = device()});
  EXPECT_EQ(session.device(), device());
  for (int64_t n : {1, 2, 7, 1}) expect_run(session, {random_tensor({n, 8, 8, 3}, static_cast<unsigned>(n))});
  for (int64_t n : {3, 0, 0, 2, 0}) {
    const Tensor x = random_tensor({n, 8, 8, 3}, 1);
    EXPECT_EQ(session.run({Datum(x)})[0].tensor().dims(), (Dims{n, 10}));
  }
}

// From the second run on a graph is launched: it must read what the inputs are then.
TEST(DeviceSession, RepeatedRunsReadNewData) {
  const Engine engine = engine_of(kLoops);
  Session session(engine, {.threads = 1, .device = device()});
  for (unsigned seed = 1; seed <= 5; ++seed)
    expect_run(session, {random_tensor({5, 33}, seed), random_tensor({33}, 9 * seed)});
}

// A larger batch moves the memory that the graph of the smaller one names.
TEST(DeviceSession, GraphsFollowMemoryThatGrows) {
  const Engine engine = engine_of(kLoops);
  Session session(engine, {.threads = 1, .device = device()});
  unsigned seed = 1;
  for (int64_t n : {2, 2, 2, 64, 2, 2, 64, 64, 2})
    expect_run(session, {random_tensor({n, 33}, ++seed), random_tensor({33}, 77)});
}

TEST(DeviceSession, OutputsOfEarlierRunsStay) {
  const Engine engine = engine_of(kLoops);
  Session session(engine, {.threads = 1, .device = device()});
  const std::vector<Datum> a{random_tensor({5, 33}, 1), random_tensor({33}, 2)},
      b{random_tensor({5, 33}, 3), random_tensor({33}, 4)};
  const std::vector<Datum> first = session.run(a);
  for (int i = 0; i < 3; ++i) session.run(b);
  expect_near(first[0], evaluate(*engine.state()->graph, a)[0]);
}

TEST(DeviceSession, SizesThatDataTell) {
  const Engine engine = engine_of(kSegments);
  Session session(engine, {.threads = 1, .device = device()});
  for (unsigned seed : {1, 1, 2, 2, 3, 1}) expect_run(session, {random_tensor({3, 4}, seed)});
}

TEST(DeviceSession, ControlFlow) {
  const Engine engine = engine_of(R"(graph(%x: f32[2,3], %c: bool[]) {
  %s = relu %x
  %y = if %c %s captures=1 graph(%p: f32[2,3]) {
      %q = mul %p %p
      %r = tanh %q
      return %r
    } graph(%p: f32[2,3]) {
      %q = neg %p
      return %q
    }
  %z = add %y %s
  return %z
})");
  Session session(engine, {.threads = 1, .device = device()});
  for (const double c : {1.0, 0.0, 1.0})
    expect_run(session, {random_tensor({2, 3}, 5), Tensor::from_f64(DType::boolean, {}, {c})});
}

TEST(DeviceSession, LoopsKeepTheirState) {
  const Engine engine = engine_of(R"(graph(%x: f32[2,3], %m: i64[]) {
  %y = loop %m _ %x %x captures=1 graph(%i: i64[], %c: bool[], %state: f32[2,3], %in: f32[2,3]) {
      %t = tanh %state
      %n = add %t %in
      return %c, %n
    }
  %z = relu %y
  return %z
})");
  Session session(engine, {.threads = 1, .device = device()});
  for (const int64_t trips : {3, 0, 5, 3}) expect_run(session, {random_tensor({2, 3}, 5), Tensor::scalar_i64(trips)});
}

TEST(DeviceSession, TracesAndProfilesEveryStep) {
  const Engine engine = engine_of(kNetwork);
  Session session(engine, {.threads = 1, .device = device()});
  const std::vector<Datum> in{random_tensor({2, 8, 8, 3}, 1)};
  std::map<std::string, Datum> want, got;
  evaluate(*engine.state()->graph, in,
           [&](ValueId id, const Datum& d) { want[engine.state()->graph->value(id).name] = d; });
  session.trace(
      in, [&](const std::string&, const std::string&, const std::string& name, const Datum& d) { got[name] = d; });
  EXPECT_TRUE(got.contains("c") && got.contains("t") && got.contains("y"));
  for (const auto& [name, datum] : got) expect_near(datum, want.at(name));
  std::vector<StepTime> steps;
  expect_near(session.profile(in, steps)[0], want.at("y"));
  ASSERT_GE(steps.size(), 4u);
  for (const StepTime& s : steps) {
    EXPECT_GT(s.seconds, 0) << s.name;
    EXPECT_GT(s.bytes, 0) << s.name;
    EXPECT_EQ(s.provider, s.kernel == "host"                            ? "host"
                          : s.kernel.find("cublaslt") < s.kernel.size() ? "cublaslt"
                                                                        : "own");
  }
  EXPECT_GT(steps[0].flops, 0) << steps[0].op;
}

// What a GPU waits for while the host launches is no time of a step.
TEST(DeviceSession, StepsTakeTogetherAboutWhatTheRunTakes) {
  const Engine engine = engine_of(kNetwork);
  Session session(engine, {.threads = 1, .device = device()});
  const std::vector<Datum> in{random_tensor({2, 8, 8, 3}, 1)};
  const std::vector<Datum> want = session.run(in);
  double together = 1e9, whole = 1e9;
  for (int i = 0; i < 5; ++i) {
    DeviceTimes times;
    session.run_timed(in, times);
    whole = std::min(whole, times.compute);
    std::vector<StepTime> steps;
    expect_near(session.profile(in, steps)[0], want[0]);
    double sum = 0;
    for (const StepTime& s : steps) sum += s.seconds;
    together = std::min(together, sum);
  }
  EXPECT_LT(together, 5 * whole);
  EXPECT_GT(together, whole / 5);
}

TEST(DeviceSession, ProfilesStepsBetweenThoseOfTheHost) {
  const Engine engine = engine_of(kSegments);
  Session session(engine, {.threads = 1, .device = device()});
  const std::vector<Datum> in{random_tensor({3, 4}, 2)};
  for (int i = 0; i < 3; ++i) {
    std::vector<StepTime> steps;
    session.profile(in, steps);
    ASSERT_GE(steps.size(), 6u);
    int on_host = 0;
    for (const StepTime& s : steps) on_host += s.provider == "host";
    EXPECT_EQ(on_host, 2) << "the two NonZero";
  }
}

TEST(DeviceSession, TwoSessionsAtOnce) {
  const Engine engine = engine_of(kNetwork);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      Session session(engine, {.threads = 1, .device = device()});
      for (unsigned i = 0; i < 6; ++i) expect_run(session, {random_tensor({1 + t, 8, 8, 3}, 10 * t + i)});
    });
  for (std::thread& t : threads) t.join();
}

// Far more than any machine has; the session goes on with less.
TEST(DeviceSession, TooLargeIsAnErrorAndNoEnd) {
  const Engine engine = engine_of(R"(graph(%x: f32[N,1], %z: f32[1,N]) {
  %a = add %x %z
  %b = relu %a
  %y = reduce_max %b {axes=[1], keepdims=1}
  return %y, %b
})");
  Session session(engine, {.threads = 1, .device = device()});
  const auto inputs = [](int64_t n) { return std::vector<Datum>{random_tensor({n, 1}, 1), random_tensor({1, n}, 2)}; };
  expect_run(session, inputs(5));
  const int64_t many = int64_t{1} << 22;
  try {
    session.run(std::vector<Datum>{Tensor(DType::f32, {many, 1}), Tensor(DType::f32, {1, many})});
    FAIL() << "64 TiB are there";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
  }
  for (int i = 0; i < 3; ++i) expect_run(session, inputs(7));
}

// A bad index is the run's error, and not the next one's.
TEST(DeviceSession, BadValuesInDataAreErrors) {
  const Engine engine = engine_of(R"(graph(%x: f32[4,3], %i: i64[2]) {
  %y = gather %x %i
  return %y
})");
  Session session(engine, {.threads = 1, .device = device()});
  const Tensor x = random_tensor({4, 3}, 1);
  for (const int64_t last : {3, 9, 2, -9, 1, 1}) {
    const std::vector<Datum> in{x, Tensor::vector_i64({0, last})};
    if (last >= -4 && last < 4) {
      expect_run(session, in);
      continue;
    }
    try {
      session.run(in);
      FAIL() << last;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(std::to_string(last)), std::string::npos) << e.what();
    }
  }
}

TEST(DeviceSession, TellsTheTimeOfTheDevice) {
  const Engine engine = engine_of(kNetwork);
  for (const bool graphs : {true, false}) {
    Session session(engine, {.threads = 1, .device = device(), .graphs = graphs});
    const std::vector<Datum> in{random_tensor({2, 8, 8, 3}, 1)};
    const std::vector<Datum> want = evaluate(*engine.state()->graph, in);
    for (int i = 0; i < 4; ++i) {
      DeviceTimes times;
      expect_near(session.run_timed(in, times)[0], want[0]);
      EXPECT_GT(times.compute, 0);
      EXPECT_GE(times.with_copies, times.compute);
      EXPECT_EQ(times.queued, 0);
    }
    DeviceTimes times;
    expect_near(session.run_timed(in, times, 3)[0], want[0]);
    EXPECT_GT(times.queued, 0);
    expect_run(session, {random_tensor({2, 8, 8, 3}, 2)});
  }
}

// Kernels that host steps divide cannot run again behind each other.
TEST(DeviceSession, QueuesNothingAroundHostSteps) {
  const Engine engine = engine_of(kSegments);
  Session session(engine, {.threads = 1, .device = device()});
  const std::vector<Datum> in{random_tensor({3, 4}, 1)};
  DeviceTimes times;
  for (int i = 0; i < 3; ++i) session.run_timed(in, times, 2);
  EXPECT_GT(times.compute, 0);
  EXPECT_EQ(times.queued, 0);
  expect_run(session, in);
}

TEST(DeviceSession, NamesADeviceThatIsNotThere) {
  const Engine engine = engine_of(kLoops);
  try {
    Session session(engine, {.threads = 1, .device = "tpu:0"});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::device);
    EXPECT_NE(std::string(e.what()).find("tpu:0"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace trine
