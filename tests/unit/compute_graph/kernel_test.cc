// Kernels in graphs that are lists of operations: on a device of these tests, whose kernels are functions.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "compute/backend_table.h"
#include "compute/kernel_table.h"
#include "trine/base/error.h"
#include "trine/compute/graph.h"

namespace trine::compute {
namespace {

// out[i] += a for each thread of a grid.
const int kAdd = 0;

void run_add(KernelHandle, const LaunchShape& shape, const void* const* arguments, StreamHandle) {
  int* out = nullptr;
  int a = 0;
  std::memcpy(&out, arguments[0], sizeof out);
  std::memcpy(&a, arguments[1], sizeof a);
  for (uint64_t i = 0; i < shape.grid.volume() * shape.block.volume(); ++i) out[i] += a;
}

BackendTable toy() {
  BackendTable table = *find_backend("cpu");
  table.name = "toy";
  return table;
}
const BackendTable kToy = toy();
const RegisterBackend backend(kToy);

const KernelTable kToyKernels = {
    .backend = "toy",
    .compile = [](int, std::string_view, const CompileOptions&) -> ModuleHandle { return std::make_shared<int>(0); },
    .kernels = [](const ModuleHandle&) { return std::vector<std::string>{"add(int*, int)"}; },
    .kernel = [](const ModuleHandle&, std::string_view name) -> KernelHandle {
      return name == "add" ? &kAdd : nullptr;
    },
    .properties = [](KernelHandle) { return KernelProperties{.name = "add(int*, int)", .parameter_bytes = {8, 4}}; },
    .variable = [](const ModuleHandle&, std::string_view) { return Module::Variable{nullptr, 0}; },
    .launch = run_add,
};
const RegisterKernels kernels(kToyKernels);

TEST(GraphKernels, KeepTheirArgumentsUntilTheyAreUpdated) {
  const Device device = Device::open("toy");
  Stream stream = device.create_stream();
  Buffer buffer = device.allocate(64 * sizeof(int));
  int* out = static_cast<int*>(buffer.data());
  std::optional<Graph> graph;
  {
    const Kernel add = Module::compile(device, "").kernel("add");  // the graph keeps it
    int a = 2;
    stream.begin_capture();
    stream.fill(buffer, 0);
    add.launch(stream, {.grid = {2}, .block = {16}}, out, a);
    a = 5;
    add.launch(stream, {.block = {33}}, out, a);
    a = 100;
    graph = stream.end_capture();
  }
  ASSERT_EQ(graph->kernels(), 2u);
  const auto expect = [&](int first, int first_count, int second, int second_count) {
    std::memset(out, 0x77, 64 * sizeof(int));
    graph->launch(stream);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(out[i], (i < first_count ? first : 0) + (i < second_count ? second : 0)) << i;
  };
  expect(2, 32, 5, 33);
  expect(2, 32, 5, 33);
  graph->update(1, {.block = {1}}, out, 7);
  expect(2, 32, 7, 1);
  const Graph copy = *graph;
  graph->update(0, {.grid = {1, 2}, .block = {1, 16, 2}}, out, -1);
  expect(-1, 64, 7, 1);
  EXPECT_THROW(graph->update(0, {.block = {1025}}, out, 1), Error);
  EXPECT_THROW(graph->update(0, {}, out), Error);
  EXPECT_THROW(graph->update(0, {}, out, 1.0), Error);
  expect(-1, 64, 7, 1);  // and nothing of them stays
}

}  // namespace
}  // namespace trine::compute
