// Surfaces on every device and in every mode.
#include <gtest/gtest.h>

#include <numeric>

#include "kernel_case.h"
#include "trine/base/error.h"
#include "trine/compute/texture.h"

namespace trine::compute {
namespace {

constexpr const char* kSource = R"(
template <class T> __device__ T next(T v) { v.x = v.x + 1; return v; }
template <> __device__ unsigned char next(unsigned char v) { return v + 1; }
template <> __device__ unsigned short next(unsigned short v) { return v + 1; }
template <class T>
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  T v;
  surf2Dread(&v, from, x * (int)sizeof(T), y);
  surf2Dwrite(next(v), to, (width - 1 - x) * (int)sizeof(T), height - 1 - y);
}
__global__ void modes(cudaSurfaceObject_t s, int* out, int n) {
  int i = threadIdx.x, x = (i - 2) * 4;
  out[i] = surf2Dread<int>(s, x, 1, cudaBoundaryModeZero);
  out[i + n] = surf2Dread<int>(s, x, i % 3 ? 1 : 7, cudaBoundaryModeClamp);
  surf2Dwrite(100 + i, s, x, 0, cudaBoundaryModeZero);
}
__global__ void shapes(cudaSurfaceObject_t line, cudaSurfaceObject_t volume, cudaSurfaceObject_t lines,
                       cudaSurfaceObject_t sheets, float* out) {
  int i = threadIdx.x;
  surf1Dwrite(1.0f + i, line, i * 4);
  surf3Dwrite(10.0f + i, volume, i * 4, 1, 2);
  surf1DLayeredwrite(20.0f + i, lines, i * 4, 1);
  surf2DLayeredwrite(30.0f + i, sheets, i * 4, 1, 2);
  out[i] = surf1Dread<float>(line, i * 4) + surf3Dread<float>(volume, i * 4, 1, 2);
  out[i + 4] = surf1DLayeredread<float>(lines, i * 4, 1) + surfCubemapread<float>(sheets, i * 4, 1, 2);
}
__global__ void outside(cudaSurfaceObject_t s, int* out) { out[0] = surf2Dread<int>(s, 4000, 0); }
)";

template <class Body>
void on_all(const Body& body) {
  for (const Target& target : targets()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, text_of(target));
    try {
      const Device device = Device::open(target.device);
      const Module module = Module::compile(
          device, kSource,
          {.instances = {"turn<unsigned char>", "turn<unsigned short>", "turn<float1>", "turn<float2>", "turn<float4>"},
           .mode = target.mode});
      Stream stream = device.create_stream();
      body(device, module, stream);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

template <class T>
void turn(const Device& device, const Module& module, Stream& stream, const char* type, const TexelFormat& format) {
  for (const uint32_t width : {1u, 31u, 32u, 33u}) {
    constexpr uint32_t kHeight = 5;
    const uint32_t per = format.channels, count = width * kHeight * per;
    std::vector<T> in(count), out(count);
    const Ints values = random_ints(static_cast<int>(count), test_seed() + width);
    for (uint32_t i = 0; i < count; ++i) in[i] = static_cast<T>(values[i]);
    const ArrayShape shape{.format = format, .width = width, .height = kHeight, .surfaces = true};
    const Array from = Array::create(device, shape), to = Array::create(device, shape);
    from.upload(stream, in.data());
    const Surface a = Surface::create(from), b = Surface::create(to);
    module.kernel(std::string("turn<") + type + ">")
        .launch(stream, {.grid = {(width + 31) / 32, kHeight}, .block = {32}}, a.object(), b.object(),
                static_cast<int>(width), static_cast<int>(kHeight));
    to.download(stream, out.data());
    stream.synchronize();
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t texel = width * kHeight - 1 - i / per, c = i % per;
      ASSERT_EQ(out[i], static_cast<T>(in[texel * per + c] + (c == 0))) << type << " " << width << " at " << i;
    }
  }
}

TEST(Surfaces, EverySizeOfElements) {
  on_all([](const Device& device, const Module& module, Stream& stream) {
    turn<uint8_t>(device, module, stream, "unsigned char", {ChannelKind::unsigned_integer, 8, 1});
    turn<uint16_t>(device, module, stream, "unsigned short", {ChannelKind::unsigned_integer, 16, 1});
    turn<float>(device, module, stream, "float1", {ChannelKind::floating, 32, 1});
    turn<float>(device, module, stream, "float2", {ChannelKind::floating, 32, 2});
    turn<float>(device, module, stream, "float4", {ChannelKind::floating, 32, 4});
  });
}

TEST(Surfaces, BoundaryModes) {
  on_all([](const Device& device, const Module& module, Stream& stream) {
    constexpr int kThreads = 36;
    const Array array = Array::create(
        device, {.format = {ChannelKind::signed_integer, 32, 1}, .width = 32, .height = 2, .surfaces = true});
    Ints in(64), out(2 * kThreads), after(64);
    std::iota(in.begin(), in.end(), 1000);
    array.upload(stream, in.data());
    const Surface surface = Surface::create(array);
    const Buffer buffer = device.allocate(out.size() * 4);
    module.kernel("modes").launch(stream, {.block = {kThreads}}, surface.object(), buffer.data(), kThreads);
    stream.download(out.data(), buffer, 0, out.size() * 4);
    array.download(stream, after.data());
    stream.synchronize();
    for (int i = 0; i < kThreads; ++i) {
      const int x = i - 2;
      const bool inside = x >= 0 && x < 32;
      EXPECT_EQ(out[static_cast<size_t>(i)], inside ? 1032 + x : 0) << i;
      EXPECT_EQ(out[static_cast<size_t>(i + kThreads)], 1032 + std::clamp(x, 0, 31)) << i;
      if (inside) {
        EXPECT_EQ(after[static_cast<size_t>(x)], 100 + i);
        EXPECT_EQ(after[static_cast<size_t>(x + 32)], 1032 + x);
      }
    }
  });
}

TEST(Surfaces, EveryShape) {
  on_all([](const Device& device, const Module& module, Stream& stream) {
    const Array arrays[] = {
        Array::create(device, {.width = 4, .surfaces = true}),
        Array::create(device, {.width = 4, .height = 2, .depth = 3, .surfaces = true}),
        Array::create(device, {.width = 4, .depth = 2, .layered = true, .surfaces = true}),
        Array::create(device, {.width = 4, .height = 4, .depth = 6, .cubemap = true, .surfaces = true})};
    const Surface line = Surface::create(arrays[0]), volume = Surface::create(arrays[1]),
                  lines = Surface::create(arrays[2]), sheets = Surface::create(arrays[3]);
    const Buffer buffer = device.allocate(32);
    module.kernel("shapes").launch(stream, {.block = {4}}, line.object(), volume.object(), lines.object(),
                                   sheets.object(), buffer.data());
    float out[8], in_volume[24];
    stream.download(out, buffer, 0, 32);
    arrays[1].download(stream, in_volume);
    stream.synchronize();
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(out[i], 11.0f + 2.0f * static_cast<float>(i));
      EXPECT_EQ(out[i + 4], 50.0f + 2.0f * static_cast<float>(i));
      EXPECT_EQ(in_volume[(2 * 2 + 1) * 4 + i], 10.0f + static_cast<float>(i));
    }
  });
}

TEST(Surfaces, OutsideEndsTheKernel) {
  for (const CpuMode mode : {CpuMode::threads, CpuMode::automatic}) {
    const Device device = Device::open("cpu");
    const Module module = Module::compile(device, kSource, {.mode = mode});
    Stream stream = device.create_stream();
    const Array array = Array::create(device, {.width = 8, .height = 8, .surfaces = true});
    const Surface surface = Surface::create(array);
    const Buffer buffer = device.allocate(16);
    EXPECT_THROW(
        {
          module.kernel("outside").launch(stream, {}, surface.object(), buffer.data());
          stream.synchronize();
        },
        Error);
  }
}

}  // namespace
}  // namespace trine::compute
