// Rows of a device chosen by what they take there: --budget and --timing-cache.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../build/model_of.h"
#include "dnn/device_row.h"
#include "models.h"
#include "trine/base/error.h"
#include "trine/dnn/timings.h"

namespace trine {
namespace {

using namespace test;
using dnn::DeviceRow;
using dnn::DeviceTraits;
using dnn::Problem;

// Rows that a wrong cost model takes for the fastest, as long as they are planted.
enum class Planted { none, slow, broken } planted = Planted::none;
constexpr int kSlower = 60;

const DeviceRow& good_row() { return *dnn::find_device_row("pool_any_direct"); }

const char* fits_while(Planted which, const Problem& problem, const DeviceTraits& traits) {
  return planted == which ? good_row().fits(good_row(), problem, traits) : "not planted";
}
double too_cheap(const DeviceRow&, const Problem&, const DeviceTraits&) { return 1e-9; }

compute::DeviceCall slow_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  compute::DeviceCall call = dnn::device_call(good_row(), problem, traits);
  const std::vector<compute::DeviceLaunch> once = call.launches;
  for (int i = 1; i < kSlower; ++i) call.launches.insert(call.launches.end(), once.begin(), once.end());
  return call;
}

compute::DeviceCall broken_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  compute::DeviceCall call = dnn::device_call(good_row(), problem, traits);
  call.launches[0].source =
      std::make_shared<compute::DeviceSource>(compute::DeviceSource{"broken.cu", "this is no kernel"});
  return call;
}

const char* fits_slow(const DeviceRow&, const Problem& p, const DeviceTraits& t) {
  return fits_while(Planted::slow, p, t);
}
const char* fits_broken(const DeviceRow&, const Problem& p, const DeviceTraits& t) {
  return fits_while(Planted::broken, p, t);
}

const DeviceRow kRows[] = {
    {.name = "pool_any_planted", .op = dnn::OpKind::pool, .fits = fits_slow, .cost = too_cheap, .call = slow_call},
    {.name = "pool_any_broken", .op = dnn::OpKind::pool, .fits = fits_broken, .cost = too_cheap, .call = broken_call},
};
const dnn::RegisterDeviceRows registered(kRows);

// The two pools are one problem.
constexpr const char* kPools = R"(graph(%x: f32[2,4,16,16]) {
  %p = max_pool %x {kernel_shape=[3,3], pads=[1,1,1,1]}
  %q = max_pool %p {kernel_shape=[3,3], pads=[1,1,1,1]}
  return %q
})";

struct Measured : testing::Test {
  const std::string path = testing::TempDir() + "trine_device_timings_" + std::to_string(getpid());
  void SetUp() override { TearDown(), planted = Planted::slow; }
  void TearDown() override {
    planted = Planted::none;
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".lock");
  }
  BuildOptions options(double budget, bool cache = true) const {
    BuildOptions o{.device = device(), .threads = 1, .budget_seconds = budget};
    if (cache) o.timing_cache = path;
    return o;
  }
  std::string cached() const {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
};

bool plan_has(const Engine& engine, const std::string& row) {
  return engine.plan_text({}, device()).find(row) != std::string::npos;
}

std::string note_with(const Engine& engine, const std::string& text) {
  for (const std::string& note : engine.notes())
    if (note.find(text) != std::string::npos) return note;
  return "";
}

TEST_F(Measured, CorrectsAWrongModel) {
  EXPECT_TRUE(plan_has(build(model_of(kPools), options(0, false)), "pool_any_planted")) << "the model's favourite";
  const Engine engine = build(model_of(kPools), options(60));
  EXPECT_FALSE(plan_has(engine, "pool_any_planted")) << engine.plan_text({}, device());
  EXPECT_TRUE(plan_has(engine, "pool_any_")) << engine.plan_text({}, device());
  EXPECT_EQ(build_record(engine)->timed, true);
  Session session(engine, {.threads = 1, .device = device()});
  EXPECT_TRUE(session.notes().empty());
  expect_run(session, {random_tensor({2, 4, 16, 16}, 1)});
}

TEST_F(Measured, TimesEqualProblemsOnceAndRemembers) {
  const Engine engine = build(model_of(kPools), options(60));
  const std::string text = cached();
  const auto lines = std::count(text.begin(), text.end(), '\n');
  ASSERT_GE(lines, 3) << text;  // a title and two rows
  EXPECT_NE(note_with(engine, "timed " + std::to_string(lines - 1) + " kernels"), "") << text;
  EXPECT_NE(text.find("\t0\tpool_any_planted\t"), std::string::npos) << text;
  const Engine again = build(model_of(kPools), options(0));
  EXPECT_FALSE(plan_has(again, "pool_any_planted"));
  EXPECT_EQ(note_with(again, "timed "), "");
  EXPECT_EQ(cached(), text);
}

TEST_F(Measured, TimesStandBesideThoseOfCpus) {
  build(model_of(kPools), options(60));
  const std::string of_device = cached();
  BuildOptions here = options(60);
  here.device = "cpu";
  build(model_of(kPools), here);
  EXPECT_GE(cached().size(), of_device.size());
  dnn::Timings all;
  EXPECT_EQ(all.merge(cached()), 0);
  const Engine again = build(model_of(kPools), options(0));
  EXPECT_FALSE(plan_has(again, "pool_any_planted"));
}

TEST_F(Measured, TimesOfOtherDevicesAreKeptAndNotUsed) {
  build(model_of(kPools), options(60));
  std::string text = cached();
  const std::string mine = text.substr(text.find('\n') + 1);
  const size_t tab = mine.find('\t') + 1;
  const std::string device = mine.substr(tab, mine.find('\t', tab) - tab);
  for (size_t at = text.find(device); at != std::string::npos; at = text.find(device, at + 10))
    text.replace(at, device.size(), "sm_12 x1 another");
  std::ofstream(path) << text;
  EXPECT_TRUE(plan_has(build(model_of(kPools), options(0)), "pool_any_planted"));
  build(model_of(kPools), options(60));
  EXPECT_NE(cached().find("sm_12 x1 another"), std::string::npos);
  EXPECT_NE(cached().find(device), std::string::npos);
}

TEST_F(Measured, ABudgetEnds) {
  const Engine engine = build(model_of(kPools), options(1e-9));
  EXPECT_TRUE(plan_has(engine, "pool_any_planted"));
  EXPECT_EQ(cached(), "") << "nothing was timed";
}

TEST_F(Measured, DamageIsTold) {
  build(model_of(kPools), options(60));
  std::ofstream(path, std::ios::app) << "not\ta line\n";
  const Engine engine = build(model_of(kPools), options(0));
  EXPECT_NE(note_with(engine, "1 damaged lines are ignored"), "");
  EXPECT_FALSE(plan_has(engine, "pool_any_planted"));
  std::ofstream(path) << "something else\n";
  try {
    build(model_of(kPools), options(1));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << e.what();
  }
}

TEST_F(Measured, DeterministicContradicts) {
  BuildOptions o = options(1);
  o.deterministic = true;
  try {
    build(model_of(kPools), o);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << e.what();
  }
}

TEST_F(Measured, ARowThatDoesNotCompileIsLeftOut) {
  planted = Planted::broken;
  const Engine engine = build(model_of(kPools), options(60));
  EXPECT_NE(note_with(engine, "kernel pool_any_broken is left out"), "");
  EXPECT_FALSE(plan_has(engine, "pool_any_broken"));
  Session session(engine, {.threads = 1, .device = device()});
  expect_run(session, {random_tensor({2, 4, 16, 16}, 1)});
}

TEST_F(Measured, ProgressTellsOfIt) {
  std::vector<std::string> phases;
  BuildOptions o = options(60, false);
  o.progress = [&](const std::string& phase, int, int) { phases.push_back(phase); };
  build(model_of(kPools), o);
  const auto told = [](const std::string& phase) { return phase.starts_with("choose kernels: 0 of "); };
  EXPECT_TRUE(std::any_of(phases.begin(), phases.end(), told));
}

// Weights are packed, constants there, products measured too.
TEST_F(Measured, NetworksRunWithWhatWasMeasured) {
  planted = Planted::none;
  const Engine engine = build(model_of(R"(graph(%x: f32[1,3,8,8], %z: f32[4,32]) {
  %w: f32[8,3,3,3] = const f32[8,3,3,3] random(1)
  %c = conv %x %w {pads=[1,1,1,1]}
  %r = relu %c
  %m: f32[32,10] = const f32[32,10] random(2)
  %y = matmul %z %m
  return %r, %y
})"),
                              {.device = device(), .threads = 1, .budget_seconds = 60, .verify = Verify::full});
  EXPECT_NE(note_with(engine, "timed "), "");
  Session session(engine, {.threads = 1, .device = device()});
  EXPECT_TRUE(session.notes().empty());
  expect_run(session, {random_tensor({1, 3, 8, 8}, 7), random_tensor({4, 32}, 8)});
}

}  // namespace
}  // namespace trine
