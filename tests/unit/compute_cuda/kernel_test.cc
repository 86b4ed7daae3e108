// Modules, launches, and graphs with kernels.
#include "compute/kernel_table.h"
#include "fixture.h"

namespace trine::compute {
namespace {

class KernelTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    define_kernels();
  }
  Module module() const { return Module::compile(gpu_, kSource); }
};

TEST_F(KernelTest, ModulesTellWhatTheyHold) {
  const Module m = module();
  EXPECT_EQ(m.kernels(), (std::vector<std::string>{"scale(float*, float, int)", "blocks(int*)"}));
  const KernelProperties p = m.kernel("scale").properties();
  EXPECT_EQ(p.name, "scale(float*, float, int)");
  EXPECT_EQ(p.static_shared_bytes, 256u);
  EXPECT_EQ(p.most_threads, 512u);
  EXPECT_EQ(p.registers, 17u);
  EXPECT_EQ(p.parameter_bytes, (std::vector<uint32_t>{8, 4, 4}));
  EXPECT_EQ(m.variable("table").bytes, 16u);
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { m.kernel("x"); }), "it has scale"));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { m.variable("x"); }), "'x'"));
}

TEST_F(KernelTest, LaunchesComputeOnWhatTheyAreGiven) {
  const Kernel scale = module().kernel("scale");  // keeps its module
  Stream stream = gpu_.create_stream();
  for (const int n : {0, 1, 31, 32, 33, 96, 256, 1024}) {
    const std::vector<float> in = random_floats(static_cast<size_t>(n));
    std::vector<float> out(in.size(), -1);
    Buffer x = gpu_.allocate(in.size() * 4 + 4);
    stream.upload(x, 0, in.data(), in.size() * 4);
    scale.launch(stream, {.grid = {(static_cast<uint32_t>(n) + 31) / 32 + 1}, .block = {32}},
                 static_cast<float*>(x.data()), 2.5f, n);
    stream.download(out.data(), x, 0, out.size() * 4);
    stream.synchronize();
    for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i], in[i] * 2.5f);
  }
}

TEST_F(KernelTest, ShapesArriveAsTheyAre) {
  const Kernel blocks = module().kernel("blocks");
  Stream stream = gpu_.create_stream();
  Buffer out = gpu_.allocate(32);
  int host[8];
  const auto run = [&](const LaunchShape& shape) {
    blocks.launch(stream, shape, out.data());
    stream.download(host, out, 0, 32);
    stream.synchronize();
    return std::vector<int>(host, host + 8);
  };
  EXPECT_EQ(run({.grid = {2, 3, 4}, .block = {5, 6, 7}, .shared_bytes = 100000}),
            (std::vector<int>{2, 3, 4, 5, 6, 7, 100000, 0}));
  EXPECT_EQ(run({.grid = {8}, .block = {32}, .cooperative = true}), (std::vector<int>{8, 1, 1, 32, 1, 1, 0, 1}));
  EXPECT_EQ(run({.grid = {8}, .block = {32}, .cluster = {2, 1, 2}}), (std::vector<int>{8, 1, 1, 32, 1, 1, 0, 300}));
  EXPECT_EQ(run({.grid = {8}, .block = {32}, .overlap = true}), (std::vector<int>{8, 1, 1, 32, 1, 1, 0, 10}));
}

TEST_F(KernelTest, TensorMapsAreEncodedByTheDriver) {
  const KernelTable* table = find_kernel_table("cuda");
  uint64_t map[kTensorMapBytes / 8];
  TensorMapShape shape{
      .type = DType::f16, .dims = {64, 100}, .stride_bytes = {128}, .swizzle_bytes = 128, .box = {64, 8}};
  void* address = reinterpret_cast<void*>(0x1000);
  table->encode_tensor_map(0, shape, address, map);
  EXPECT_EQ(map[0], 2u);
  EXPECT_EQ(map[1], ~(uint64_t{1} << 21)) << "what drivers do wrong for small tensors is mended";
  EXPECT_EQ(map[2], 3u);
  EXPECT_EQ(map[3], 0x1000u);
  shape.dims = {64, 2048};
  table->encode_tensor_map(0, shape, address, map);
  EXPECT_EQ(map[1], ~uint64_t{0});
  shape.box.clear();
  shape.channels = 64, shape.pixels = 128;
  table->encode_tensor_map(0, shape, address, map);
  EXPECT_EQ(map[4], 64u);
  EXPECT_EQ(map[5], 128u);
  shape.box = {64, 8};
  shape.stride_bytes = {130};
  const auto encode = [&] { table->encode_tensor_map(0, shape, address, map); };
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, encode), "strides 130 bytes"));
  shape.type = DType::f64;
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, encode), "elements of f64"));
}

TEST_F(KernelTest, MistakesInLaunchesAreNamed) {
  const Kernel blocks = module().kernel("blocks");
  Stream stream = gpu_.create_stream(), other = Device::open("cuda:1").create_stream(),
         cpu = Device::open("cpu").create_stream();
  const auto message = [&](const LaunchShape& shape, Stream& on) {
    void* none = nullptr;
    return error_of(ErrorCode::invalid_argument, [&] { blocks.launch(on, shape, none); });
  };
  EXPECT_EQ(message({.shared_bytes = 232193}, stream),
            "launch: 232193 bytes of dynamic shared memory for blocks(int*); accepted are 0 to 232192");
  EXPECT_EQ(message({.grid = {9}, .cooperative = true}, stream),
            "launch: 9 blocks of the cooperative kernel blocks(int*); at most 8 of this shape are resident at once");
  EXPECT_TRUE(has(message({.block = {513}}, stream), "accepted are 1 to 512"));
  EXPECT_TRUE(has(message({}, other), "give a stream of the module's device"));
  EXPECT_TRUE(has(message({}, cpu), "give a stream of the module's device"));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { blocks.launch(stream, {}, 1); }), "4 bytes"));
}

TEST_F(KernelTest, FailuresNameTheKernelLaunchedLast) {
  const Module m = module();
  Stream stream = gpu_.create_stream(), idle = gpu_.create_stream();
  fake::define("_Z6blocksPi", {8}, [](const fake::Launch&) { fake::lose_context(cuda::kIllegalAddress); });
  void* none = nullptr;
  m.kernel("scale").launch(idle, {}, none, 1.0f, 0);
  m.kernel("blocks").launch(stream, {}, none);
  const std::string text = error_of(ErrorCode::device, [&] { stream.synchronize(); });
  EXPECT_EQ(text,
            "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (its text); launched last: blocks(int*); the device takes "
            "no more work from this program, compute-sanitizer finds the place");
  EXPECT_TRUE(has(error_of(ErrorCode::device, [&] { gpu_.allocate(8); }), "launched last: blocks(int*)"));
  EXPECT_TRUE(has(error_of(ErrorCode::device, [&] { m.kernel("scale").launch(idle, {}, none, 1.0f, 0); }),
                  "launch of scale(float*, float, int): CUDA_ERROR_ILLEGAL_ADDRESS (its text); launched last: scale"));
  fake::lose_context(cuda::kSuccess);
  fake::fail("cuLaunchKernel", 46);
  EXPECT_EQ(error_of(ErrorCode::device, [&] { m.kernel("scale").launch(idle, {}, none, 1.0f, 0); }),
            "launch of scale(float*, float, int): CUDA error 46");
}

TEST_F(KernelTest, WhatTheDriverDoesNotTakeIsToldWithItsLog) {
  put_into_cache("source of nonsense", "nonsense", {});
  EXPECT_EQ(error_of(ErrorCode::invalid_argument, [&] { Module::compile(gpu_, "source of nonsense"); }),
            "compile: the driver does not take this PTX: CUDA_ERROR_INVALID_PTX (its text); ptxas: nonsense in line 1");
  EXPECT_TRUE(has(error_of(ErrorCode::unsupported, [&] { Module::compile(gpu_, kSource, {.checks = {"race"}}); }),
                  "compute-sanitizer"));
  fake::fail("cuModuleLoadDataEx", 46);
  EXPECT_EQ(error_of(ErrorCode::device, [&] { module(); }), "cuModuleLoadDataEx: CUDA error 46");
}

TEST_F(KernelTest, ModulesGoWithTheirLastHandle) {
  const size_t objects = fake::objects();
  {
    const Kernel kernel = module().kernel("scale");
    EXPECT_EQ(fake::objects(), objects + 1);
  }
  EXPECT_EQ(fake::objects(), objects);
}

TEST_F(KernelTest, GraphsReplayAndAreUpdated) {
  const Kernel scale = module().kernel("scale");
  Stream stream = gpu_.create_stream();
  const std::vector<float> in = random_floats(96);
  std::vector<float> out(96, -1);
  Buffer x = gpu_.allocate(96 * 4);
  int calls = 0;
  stream.begin_capture();
  stream.upload(x, 0, in.data(), 96 * 4);
  scale.launch(stream, {.grid = {3}, .block = {32}}, x.data(), 2.0f, 96);
  scale.launch(stream, {.grid = {3}, .block = {32}}, x.data(), 4.0f, 96);
  stream.call([&] { ++calls; });
  stream.download(out.data(), x, 0, 96 * 4);
  Graph graph = stream.end_capture();
  ASSERT_EQ(graph.kernels(), 2u);
  EXPECT_EQ(out[0], -1);
  for (int round = 1; round <= 2; ++round) {
    graph.launch(stream);
    stream.synchronize();
    EXPECT_EQ(calls, round);
    for (size_t i = 0; i < 96; ++i) EXPECT_EQ(out[i], in[i] * 2.0f * 4.0f);
  }
  graph.update(1, {.grid = {1}, .block = {32}}, x.data(), 8.0f, 31);
  graph.launch(stream);
  stream.synchronize();
  for (size_t i = 0; i < 96; ++i) EXPECT_EQ(out[i], in[i] * 2.0f * (i < 31 ? 8.0f : 1.0f));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { graph.update(2, {}); }), "kernel 2 of a graph of 2"));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { graph.update(0, {}, 1); }), "1 arguments"));
  fake::fail("cuGraphExecKernelNodeSetParams_v2", 46);
  EXPECT_TRUE(has(error_of(ErrorCode::device, [&] { graph.update(0, {}, x.data(), 1.0f, 0); }), "CUDA error 46"));
}

TEST_F(KernelTest, GraphsOfSeveralStreams) {
  const Kernel scale = module().kernel("scale");
  Stream first = gpu_.create_stream(), second = gpu_.create_stream();
  Event forked = gpu_.create_event(), joined = gpu_.create_event();
  void* none = nullptr;
  const auto capture = [&](bool join) {
    first.begin_capture();
    first.record(forked);
    second.wait(forked);
    scale.launch(second, {}, none, 1.0f, 0);
    second.record(joined);
    if (join) first.wait(joined);
    return first.end_capture();
  };
  EXPECT_EQ(capture(true).kernels(), 1u);
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { capture(false); }), "was not waited for"));
  EXPECT_FALSE(first.capturing() || second.capturing());
  first.synchronize();
}

TEST_F(KernelTest, WhatCallsInGraphsThrowComesOutOfSynchronize) {
  Stream stream = gpu_.create_stream(), other = gpu_.create_stream();
  stream.begin_capture();
  stream.call([] { throw Error(ErrorCode::io, "from a call"); });
  const Graph graph = stream.end_capture();
  for (int round = 0; round < 2; ++round) {
    graph.launch(other);
    EXPECT_EQ(error_of(ErrorCode::io, [&] { other.synchronize(); }), "from a call");
    other.synchronize();
  }
}

}  // namespace
}  // namespace trine::compute
