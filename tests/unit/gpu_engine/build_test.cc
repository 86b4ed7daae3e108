// Engines built for a device: rows chosen and verified there, named in the file, left alone elsewhere.
#include "trine/engine/build.h"

#include "../build/model_of.h"
#include "models.h"
#include "trine/base/error.h"

namespace trine {
namespace {

using namespace test;

constexpr const char* kModel = R"(graph(%x: f32[N,3,8,8]) {
  %w: f32[5,3,3,3] = const f32[5,3,3,3] random(1)
  %c = conv %x %w {pads=[1,1,1,1]}
  %p = max_pool %c {kernel_shape=[2,2], strides=[2,2]}
  %y = sigmoid %p
  return %y
})";

BuildOptions on_device() { return {.device = device(), .threads = 1, .verify = Verify::full}; }

bool says(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& n) { return n.find(text) != std::string::npos; });
}

Engine reopened(const Engine& engine) {
  const std::vector<uint8_t> file = engine.to_bytes();
  return Engine::from_bytes(file.data(), file.size());
}

TEST(DeviceBuild, ChoosesAndVerifiesThere) {
  const Engine engine = build(model_of(kModel), on_device());
  EXPECT_TRUE(says(engine.notes(), "checked: ")) << "no verification";
  const std::string plan = engine.plan_text({}, device());
  EXPECT_NE(plan.find("pool_"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("avx"), std::string::npos) << plan;
  Session session(engine, {.threads = 1, .device = device()});
  EXPECT_TRUE(session.notes().empty());
  for (int64_t n : {2, 2, 2, 5}) expect_run(session, {random_tensor({n, 3, 8, 8}, 7)});
}

TEST(DeviceBuild, FilesRunOnAnyDeviceAndSaySo) {
  const Engine built = build(model_of(kModel), on_device()), file = reopened(built);
  EXPECT_EQ(file.to_bytes(), built.to_bytes());
  EXPECT_EQ(plan_machines(file).size(), 1u);
  EXPECT_TRUE(plan_machines(file)[0].in_use);
  Session there(file, {.threads = 1, .device = device()});
  EXPECT_TRUE(there.notes().empty());
  expect_run(there, {random_tensor({2, 3, 8, 8}, 1)});
  Session here(file, {.threads = 1});
  EXPECT_EQ(here.notes().size(), 1u);
  EXPECT_TRUE(says(here.notes(), "the engine was built for"));
  expect_run(here, {random_tensor({2, 3, 8, 8}, 1)});
  Session other(build(model_of(kModel), {.threads = 1}), {.threads = 1, .device = device()});
  EXPECT_EQ(other.notes().size(), 1u);
  expect_run(other, {random_tensor({2, 3, 8, 8}, 1)});
}

TEST(DeviceBuild, DropsRows) {
  BuildOptions options = on_device();
  const std::string plan = build(model_of(kModel), options).plan_text({}, device());
  const size_t begin = plan.find("pool_");
  ASSERT_NE(begin, std::string::npos);
  const std::string row = plan.substr(begin, plan.find(' ', begin) - begin);
  options.drop = {row};
  EXPECT_EQ(build(model_of(kModel), options).plan_text({}, device()).find(row + " "), std::string::npos);
}

TEST(DeviceBuild, RefusesWhatItCannotDo) {
  const auto code_of = [](const BuildOptions& options) {
    try {
      build(model_of(kModel), options);
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::io;
  };
  EXPECT_EQ(code_of({.device = "cuda:77"}), ErrorCode::device);
}

}  // namespace
}  // namespace trine
