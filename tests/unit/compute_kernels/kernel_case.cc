#include "kernel_case.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "trine/base/error.h"

namespace trine::compute {
namespace {

std::string text_of(const Shape& shape) {
  const auto dim = [](const Dim3& d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
  };
  return dim(shape.grid) + " blocks of " + dim(shape.block);
}

void run_shape(const KernelCase& row, const Device& device, const Kernel& kernel, const Shape& shape) {
  const int n = shape.all();
  const Ints in = random_ints(n, test_seed() + static_cast<uint32_t>(n));
  Ints out(in.size(), kPoison), expected(in.size(), kPoison);
  row.expected(shape, in, expected);
  Stream stream = device.create_stream();
  const Buffer in_buffer = device.allocate(in.size() * sizeof(int)),
               out_buffer = device.allocate(in.size() * sizeof(int));
  stream.upload(in_buffer, 0, in.data(), in.size() * sizeof(int));
  stream.upload(out_buffer, 0, out.data(), out.size() * sizeof(int));
  const LaunchShape launch{.grid = shape.grid,
                           .block = shape.block,
                           .shared_bytes = row.shared_bytes_for_thread * static_cast<uint32_t>(shape.threads()),
                           .cooperative = row.cooperative};
  kernel.launch(stream, launch, static_cast<const int*>(in_buffer.data()), static_cast<int*>(out_buffer.data()), n);
  stream.download(out.data(), out_buffer, 0, out.size() * sizeof(int));
  stream.synchronize();
  int wrong = 0;
  for (size_t i = 0; i < out.size() && wrong < 3; ++i)
    if (out[i] != expected[i]) {
      ADD_FAILURE() << text_of(shape) << ": element " << i << " is " << out[i] << ", not " << expected[i];
      ++wrong;
    }
}

}  // namespace

const std::vector<Shape> kShapes = {{{1}, {1}},  {{1}, {31}}, {{3}, {32}},  {{2}, {33}},
                                    {{5}, {96}}, {{7}, {1}},  {{4}, {256}}, {{2}, {1024}}};
const std::vector<Shape> kWarpShapes = {{{1}, {32}}, {{3}, {64}}, {{2}, {256}}, {{1}, {1024}}};
const std::vector<Shape> kSpaceShapes = {
    {{2}, {16, 16}}, {{2, 3}, {8, 4}}, {{2, 1, 2}, {3, 5, 7}}, {{1, 2, 3}, {32, 2, 2}}, {{3, 2}, {1, 33}}};
const std::vector<Shape> kSmallShapes = {{{1}, {1}}, {{2}, {32}}, {{3}, {33}}, {{1}, {96}}};

std::vector<Target> targets() {
  std::vector<Target> all = {{"cpu", CpuMode::threads}, {"cpu", CpuMode::automatic}};
  for (const DeviceInfo& info : devices())
    if (info.id.starts_with("cuda")) {
      all.push_back({info.id, CpuMode::automatic});
      break;
    }
  if (const char* only = std::getenv("TRINE_TEST_DEVICE"))
    std::erase_if(all, [only](const Target& target) { return !target.device.starts_with(only); });
  return all;
}

std::string text_of(const Target& target) {
  static constexpr const char* kModes[] = {"automatic", "lanes", "threads"};
  return target.device + " " + kModes[static_cast<size_t>(target.mode)];
}

uint32_t test_seed() {
  static const uint32_t seed = [] {
    const uint32_t fresh = std::random_device{}();
    std::printf("seed %u\n", fresh);
    return fresh;
  }();
  return seed;
}

Ints random_ints(int count, uint32_t seed) {
  std::mt19937 generator(seed);
  Ints values(static_cast<size_t>(count));
  for (int& value : values) value = static_cast<int>(generator() % 2001) - 1000;
  return values;
}

void run_case(const KernelCase& row, const Target& target) {
  const testing::ScopedTrace trace(__FILE__, __LINE__, text_of(target) + ": " + row.name);
  if (!target.device.starts_with(row.only)) return;
  try {
    const Device device = Device::open(target.device);
    const Module module = Module::compile(device, row.source, {.mode = target.mode});
    const Kernel kernel = module.kernel("k");
    const auto most = static_cast<int>(kernel.properties().most_threads);  // by its registers, on GPUs
    for (const Shape& shape : *row.shapes)
      if (shape.threads() <= most) run_shape(row, device, kernel, shape);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

std::string failure(const Target& target, const char* source, const Shape& shape, bool cooperative) {
  try {
    const Device device = Device::open(target.device);
    const Module module = Module::compile(device, source, {.mode = target.mode});
    Stream stream = device.create_stream();
    const Buffer out = device.allocate(1 << 16);
    module.kernel("k").launch(stream, {.grid = shape.grid, .block = shape.block, .cooperative = cooperative},
                              static_cast<int*>(out.data()));
    stream.synchronize();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace trine::compute
