// Compiled kernels kept for devices: taken without a compiler, refused where they do not fit. The driver pretends, and
// what the compiler would make of sources that are nonsense lies in a cache, which then goes away.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "../compute_cuda/fake/control.h"
#include "../engine/network.h"
#include "compute/device_launch.h"
#include "engine/engine_state.h"
#include "graph/infer.h"
#include "simt/run/cache.h"
#include "simt/run/cache_key.h"
#include "simt/run/compile_ptx.h"
#include "simt/run/program.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

namespace trine {
namespace {

using compute::DeviceCall;
using compute::DevicePrograms;

// Before anything asks for devices.
class Environment : public testing::Environment {
 public:
  Environment() {
    setenv("TRINE_CUDA_DRIVER", FAKE_DRIVER, 1);
    char name[] = "/tmp/trine_code_XXXXXX";
    folder_ = mkdtemp(name);
    setenv("TRINE_CACHE", folder_.c_str(), 1);
  }
  ~Environment() override { std::filesystem::remove_all(folder_); }

 private:
  std::string folder_;
};
const auto* const environment = testing::AddGlobalTestEnvironment(new Environment);

const std::vector<std::pair<std::string, std::string>> kHeaders{{"a.cuh", "a header"}};

DeviceCall call_of(const std::string& text) {
  const auto source = std::make_shared<compute::DeviceSource>(compute::DeviceSource{"source.cu", text});
  DeviceCall call;
  call.launches = {{source, "plain", {}, {}}, {source, "twice<float>", {}, {}}};
  return call;
}

class DeviceCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    fake::reset();
    simt::DeviceModule info;
    info.kernels = {{"_Z5plainv", "plain()", {}, 0, 0, 1024},
                    {"_Z5twicev", "void twice<float>()", {}, 0, 0, 1024, {"twice<float>"}}};
    const compute::CompileOptions options{.name = "source.cu", .headers = kHeaders, .instances = {"twice<float>"}};
    const simt::Cache cache(simt::cache_folder());
    cache.store(*simt::cache_key(kText, options, "ptx sm_90a 90"),
                simt::encode({info, ".visible .entry _Z5plainv(\n.visible .entry _Z5twicev(\n"}));
  }
  DevicePrograms programs() const { return DevicePrograms(compute::Device::open("cuda:0"), kHeaders); }
  // Made with the help of the cache, which is then gone.
  std::string code() {
    std::string bytes = programs().code({&call_});
    std::filesystem::remove_all(simt::cache_folder());
    return bytes;
  }
  static std::string refusal(DevicePrograms& programs, const DeviceCall& call) {
    try {
      programs.prepare({&call});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  const std::string kText = "this is no CUDA C++";
  const DeviceCall call_ = call_of(kText);
};

TEST_F(DeviceCodeTest, NoCompilerIsNeeded) {
  const std::string bytes = code();
  DevicePrograms without = programs();
  EXPECT_NE(refusal(without, call_), "");
  DevicePrograms with = programs();
  const auto held = with.adopt(bytes);
  EXPECT_EQ(refusal(with, call_), "");
  EXPECT_EQ(with.kernel(call_.launches[1]).properties().name, "void twice<float>()");
}

TEST_F(DeviceCodeTest, NothingIsTakenWhenItsOwnerIsGone) {
  const std::string bytes = code();
  DevicePrograms p = programs();
  p.adopt(bytes);
  EXPECT_NE(refusal(p, call_), "");
}

TEST_F(DeviceCodeTest, OtherSourcesAndOtherArchitecturesAreCompiled) {
  const std::string bytes = code();
  DevicePrograms p = programs();
  const auto held = p.adopt(bytes);
  EXPECT_NE(refusal(p, call_of(kText + " ")), "");
  DevicePrograms other_headers(compute::Device::open("cuda:0"), {{"a.cuh", "another"}});
  const auto held_too = other_headers.adopt(bytes);
  EXPECT_NE(refusal(other_headers, call_), "");
}

TEST_F(DeviceCodeTest, SpecificCodeRunsNowhereElse) {
  const simt::Program program{{}, {}, {{"sm_80a", ""}, {"sm_100a", ""}}};
  try {
    compute::Module::load(compute::Device::open("cuda:0"), simt::encode_program(program));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unsupported);
    EXPECT_STREQ(e.what(), "load: the program has no code for sm_90a; compile it for this device");
  }
}

// The driver is older than the PTX: it is compiled, and when that fails for want of a compiler both reasons are told.
TEST_F(DeviceCodeTest, DriversThatDoNotTakeTheCodeAreNotTheEnd) {
  const std::string bytes = code();
  DevicePrograms p = programs();
  const auto held = p.adopt(bytes);
  fake::fail("cuModuleLoadDataEx", cuda::kUnsupportedPtx);
  EXPECT_NE(refusal(p, call_), "");  // the source is nonsense
  EXPECT_EQ(refusal(p, call_), "") << "the next time the driver takes it";
  fake::fail("cuModuleLoadDataEx", cuda::kOutOfMemory);
  DevicePrograms q = programs();
  const auto held_too = q.adopt(bytes);
  EXPECT_NE(refusal(q, call_).find("cuModuleLoadDataEx"), std::string::npos);
}

TEST_F(DeviceCodeTest, DamagedBytesAreAnError) {
  const std::string bytes = code();
  DevicePrograms p = programs();
  for (size_t n = 1; n < bytes.size(); n += 7) EXPECT_THROW(p.adopt(bytes.substr(0, n)), Error) << n;
  EXPECT_THROW(p.adopt(std::string(64, '\xff')), Error);
  unsigned seed = std::random_device{}();
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    std::string flipped = bytes;
    flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 8);
    try {
      DevicePrograms fresh = programs();
      const auto held = fresh.adopt(flipped);
      fresh.prepare({&call_});
    } catch (const Error&) {
    }
  }
}

TEST_F(DeviceCodeTest, FilesHoldIt) {
  auto state = std::make_shared<Engine::State>();
  auto graph = std::make_shared<Graph>(Graph::parse(test::kNetwork));
  infer_shapes(*graph);
  state->graph = graph;
  state->plan = make_plan(graph, {});
  set_io(*state);
  const std::vector<uint8_t> none = Engine(state).to_bytes();
  EXPECT_TRUE(Engine::from_bytes(none.data(), none.size()).state()->device_code.empty());
  Tensor bytes(DType::u8, {1000});
  std::memset(bytes.mutable_data(), 0xff, 1000);
  state->device_code.push_back({"sm_90 x4", bytes});
  std::vector<uint8_t> file = Engine(state).to_bytes();
  const Engine engine = Engine::from_bytes(file.data(), file.size());
  ASSERT_EQ(engine.state()->device_code.size(), 1u);
  EXPECT_EQ(engine.state()->device_code[0].device, "sm_90 x4");
  EXPECT_EQ(engine.state()->device_code[0].bytes.bytes(), 1000u);
  EXPECT_EQ(engine.to_bytes(), file);
  EXPECT_EQ(code_levels(engine), std::vector<std::string>{"sm_90"});
  EXPECT_NO_THROW(Session(engine, {.threads = 1})) << "CPUs do not look at it";
  try {
    Session(engine, {.threads = 1, .device = "cuda:0"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_engine);
  }
}

}  // namespace
}  // namespace trine
