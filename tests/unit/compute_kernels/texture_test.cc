// Textures on every device and in every mode, against double precision.
#include "trine/compute/texture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernel_case.h"
#include "texture_reference.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

struct Float4 {
  float x, y, z, w;
};
using Coordinates = std::vector<Float4>;

constexpr const char* kSource = R"(
#define READS(name, read)                                                                         \
  __global__ void name##_f(cudaTextureObject_t t, const float4* at, float4* out, int n) {         \
    typedef float4 T; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;          \
    float4 p = at[i]; out[i] = read; }                                                            \
  __global__ void name##_i(cudaTextureObject_t t, const float4* at, int4* out, int n) {           \
    typedef int4 T; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;            \
    float4 p = at[i]; out[i] = read; }                                                            \
  __global__ void name##_u(cudaTextureObject_t t, const float4* at, uint4* out, int n) {          \
    typedef uint4 T; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;           \
    float4 p = at[i]; out[i] = read; }
READS(t1, tex1D<T>(t, p.x))
READS(t2, tex2D<T>(t, p.x, p.y))
READS(t3, tex3D<T>(t, p.x, p.y, p.z))
READS(a1, tex1DLayered<T>(t, p.x, (int)p.w))
READS(a2, tex2DLayered<T>(t, p.x, p.y, (int)p.w))
READS(cube, texCubemap<T>(t, p.x, p.y, p.z))
READS(acube, texCubemapLayered<T>(t, p.x, p.y, p.z, (int)p.w))
READS(fetch, tex1Dfetch<T>(t, (int)p.x))
READS(gather0, tex2Dgather<T>(t, p.x, p.y))
READS(gather2, tex2Dgather<T>(t, p.x, p.y, 2))
READS(lod, tex2DLod<T>(t, p.x, p.y, p.w))
READS(grad, tex2DGrad<T>(t, p.x, p.y, make_float2(p.z, 0), make_float2(0, p.w)))
)";

struct Machine {
  explicit Machine(const Target& target)
      : device(Device::open(target.device)),
        module(Module::compile(device, kSource, {.mode = target.mode})),
        stream(device.create_stream()) {}
  Device device;
  Module module;
  Stream stream;

  std::vector<Texel> read(const std::string& kernel, char kind, uint64_t texture, const Coordinates& at) {
    const size_t bytes = at.size() * 16;
    const Buffer in = device.allocate(bytes), out = device.allocate(bytes);
    stream.fill(out, 0xcd);
    stream.upload(in, 0, at.data(), bytes);
    const auto n = static_cast<int>(at.size());
    module.kernel(kernel + "_" + kind)
        .launch(stream, {.grid = {static_cast<uint32_t>(n + 95) / 96}, .block = {96}}, texture, in.data(), out.data(),
                n);
    std::vector<uint32_t> words(at.size() * 4);
    stream.download(words.data(), out, 0, bytes);
    stream.synchronize();
    std::vector<Texel> all(at.size());
    for (size_t i = 0; i < words.size(); ++i)
      all[i / 4][i % 4] = kind == 'f'   ? double{std::bit_cast<float>(words[i])}
                          : kind == 'i' ? double{static_cast<double>(static_cast<int32_t>(words[i]))}
                                        : double{static_cast<double>(words[i])};
    return all;
  }
};

template <class Body>
void on_all(const Body& body) {
  for (const Target& target : targets()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, text_of(target));
    try {
      Machine machine(target);
      body(machine);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

char kind_of(const TexelFormat& format, const Sampler& sampler) {
  if (format.kind == ChannelKind::floating || sampler.read == ReadMode::normalized_float) return 'f';
  return format.kind == ChannelKind::signed_integer ? 'i' : 'u';
}

// Inside, around and far from the image, and what is no place at all.
Coordinates coordinates(int w, int h, int d, bool normalized, std::mt19937& random) {
  std::uniform_real_distribution<float> wide(-1.5f, 2.5f);
  const auto scale = [&](int n) { return normalized ? 1.0f : static_cast<float>(n); };
  Coordinates all;
  for (int i = 0; i < 300; ++i)
    all.push_back({wide(random) * scale(w), wide(random) * scale(h), wide(random) * scale(d), 0});
  for (int i = -4; i <= 8; ++i) {
    const float at = static_cast<float>(i) * 0.25f;
    all.push_back({at * scale(w), at * scale(h), at * scale(d), 0});
  }
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float odd : {kNan, kInf, -kInf, 1e30f, -1e30f, -0.0f, 1e-40f})
    all.push_back({odd, 0.5f * scale(h), 0.5f * scale(d), 0});
  return all;
}

// A step of each weight, of what two texels differ by, and roundings. Formats of GPUs' filters are narrower than float.
double codes_of(const Sampler& sampler, double largest) { return sampler.srgb ? largest / 128 : 0; }
double tolerance(const TexelFormat& format, const Sampler& sampler, double largest, int dimensions) {
  const double codes = codes_of(sampler, largest);
  if (sampler.filter == Filter::point) return largest * 1e-6 + codes;
  return largest * 2 * (dimensions / 256.0 + (format.bits < 32 ? 1.0 / 512 : 1e-6)) + codes;
}

void compare(const std::vector<Texel>& got, const ReferenceImage& image, const TexelFormat& format,
             const Sampler& sampler, const Coordinates& at, int dimensions) {
  double largest = 1;
  for (const Texel& texel : image.texels)
    for (const double c : texel) largest = std::max(largest, std::abs(c));
  const double codes = codes_of(sampler, largest), allowed = tolerance(format, sampler, largest, dimensions);
  int wrong = 0, exact = 0, all = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const double place[] = {at[i].x, at[i].y, at[i].z};
    if (near_edge(image, sampler, place, dimensions)) continue;
    const Texel expected = reference_sample(image, sampler, place, dimensions);
    for (size_t c = 0; c < format.channels; ++c, ++all) {
      const double off = std::abs(got[i][c] - expected[c]);
      exact += off <= largest * 4e-6 + codes;
      if (!(off <= allowed) && ++wrong < 3)
        ADD_FAILURE() << image.width << "x" << image.height << "x" << image.depth << " " << int{format.bits}
                      << " bits, " << int{format.channels} << " channels, filter " << int(sampler.filter) << " address "
                      << int(sampler.address[0]) << " normalized " << sampler.normalized_coordinates << " at "
                      << at[i].x << " " << at[i].y << " " << at[i].z << " channel " << c << ": " << got[i][c]
                      << ", not " << expected[c] << " within " << allowed;
    }
  }
  // Weights of 8 bits: but for ties of rounding most are the same on a CPU; GPUs round the products of weights too.
  EXPECT_GE(exact, dimensions == 1 || sampler.filter == Filter::point ? all * 8 / 10 : 0);
}

// Halves hold them; of fractions the one of 8 bits that 0.5 is between is the lower, and what is past the ends is an
// end.
constexpr float kBorders[][4] = {{0.25f, 0.5f, 0.75f, 1}, {-0.25f, 0.875f, 1.5f, -3}};
const AddressMode kAddresses[] = {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror, AddressMode::border};

void check_formats(Machine& machine, const TexelFormat& format, int width, int height) {
  const uint32_t seed = test_seed() + format.bits * 16u + format.channels + static_cast<uint32_t>(width);
  std::mt19937 random(seed);
  const auto bytes = random_texels(static_cast<size_t>(width) * static_cast<size_t>(height), format, seed);
  const Array array =
      Array::create(machine.device,
                    {.format = format, .width = static_cast<uint32_t>(width), .height = static_cast<uint32_t>(height)});
  array.upload(machine.stream, bytes.data());
  for (const ReadMode read : {ReadMode::element, ReadMode::normalized_float})
    for (const Filter filter : {Filter::point, Filter::linear})
      for (const AddressMode address : kAddresses)
        for (const bool normalized : {false, true}) {
          Sampler sampler{.address = {address, address, address},
                          .filter = filter,
                          .read = read,
                          .normalized_coordinates = normalized};
          std::copy_n(kBorders[normalized], 4, sampler.border);
          const char kind = kind_of(format, sampler);
          if (read == ReadMode::normalized_float && (format.kind == ChannelKind::floating || format.bits == 32))
            continue;
          if (kind != 'f' && (filter == Filter::linear || address == AddressMode::border)) continue;
          sampler.srgb = read == ReadMode::normalized_float && format.bits == 8 &&
                         format.kind == ChannelKind::unsigned_integer && format.channels == 4;
          const Texture texture = Texture::create(array, sampler);
          const Coordinates at = coordinates(width, height, 1, normalized, random);
          compare(machine.read("t2", kind, texture.object(), at),
                  {width, height, 1, decoded(bytes, format, sampler), border_of(format, sampler)}, format, sampler, at,
                  2);
        }
}

TEST(Textures, EveryFormatAndMode) {
  on_all([](Machine& machine) {
    for (const ChannelKind kind : {ChannelKind::signed_integer, ChannelKind::unsigned_integer, ChannelKind::floating})
      for (const uint8_t bits : {8, 16, 32})
        for (const uint8_t channels : {1, 2, 4})
          if (kind != ChannelKind::floating || bits > 8) check_formats(machine, {kind, bits, channels}, 33, 7);
    for (const int size : {1, 31, 32}) check_formats(machine, {}, size, 33 - size + 1);
  });
}

TEST(Textures, OneAndThreeDimensions) {
  on_all([](Machine& machine) {
    const TexelFormat format{ChannelKind::floating, 32, 4};
    for (const auto& [w, h, d] :
         {std::array{1, 0, 0}, {31, 0, 0}, {32, 0, 0}, {33, 0, 0}, {1, 1, 1}, {5, 6, 7}, {33, 2, 3}}) {
      const size_t texels =
          static_cast<size_t>(w) * static_cast<size_t>(std::max(h, 1)) * static_cast<size_t>(std::max(d, 1));
      const auto bytes = random_texels(texels, format, test_seed() + static_cast<uint32_t>(w));
      const Array array = Array::create(machine.device, {.format = format,
                                                         .width = static_cast<uint32_t>(w),
                                                         .height = static_cast<uint32_t>(h),
                                                         .depth = static_cast<uint32_t>(d)});
      array.upload(machine.stream, bytes.data());
      std::mt19937 random(test_seed());
      for (const Filter filter : {Filter::point, Filter::linear})
        for (const AddressMode address : kAddresses)
          for (const bool normalized : {false, true}) {
            Sampler sampler{.filter = filter, .normalized_coordinates = normalized, .border = {1, -2, 3, -4}};
            for (int i = 0; i < (d ? 3 : 1); ++i) sampler.address[i] = address;
            const Texture texture = Texture::create(array, sampler);
            const Coordinates at = coordinates(w, std::max(h, 1), std::max(d, 1), normalized, random);
            compare(machine.read(d ? "t3" : "t1", 'f', texture.object(), at),
                    {w, std::max(h, 1), std::max(d, 1), decoded(bytes, format, sampler), border_of(format, sampler)},
                    format, sampler, at, d ? 3 : 1);
          }
    }
  });
}

// E13: what has a meaning only with normalised coordinates, and fetches that no mode touches.
TEST(Textures, ModesWithoutNormalisedCoordinatesAndFetches) {
  on_all([](Machine& machine) {
    const float values[] = {10, 20, 30, 40};
    const Array array = Array::create(machine.device, {.width = 4, .height = 1});
    array.upload(machine.stream, values);
    for (const AddressMode mode : {AddressMode::wrap, AddressMode::mirror}) {
      const Texture texture = Texture::create(array, {.address = {mode, mode, mode}, .filter = Filter::linear});
      const auto got = machine.read("t2", 'f', texture.object(), {{-3, 0.5f}, {5.5f, 0.5f}, {1, 0.5f}, {1.001f, 0.5f}});
      EXPECT_EQ(got[0][0], 10);
      EXPECT_EQ(got[1][0], 40);
      EXPECT_EQ(got[2][0], 15);
      EXPECT_EQ(got[3][0], 15);  // a weight has 8 bits: 0.001 is less than half a step
    }
    const Buffer memory = machine.device.allocate(64);
    machine.stream.upload(memory, 0, values, sizeof values);
    for (const Filter filter : {Filter::point, Filter::linear})
      for (const AddressMode mode : kAddresses) {
        const Texture texture =
            Texture::create(machine.device, LinearMemory{memory.data(), {}, 16}, {.address = {mode}, .filter = filter});
        const auto got = machine.read("fetch", 'f', texture.object(), {{0}, {3}, {4}, {-1}, {1e9f}});
        for (size_t i = 0; i < 5; ++i) EXPECT_EQ(got[i][0], i == 0 ? 10 : i == 1 ? 40 : 0) << i;
      }
    const Texture rows = Texture::create(machine.device, PitchedMemory{memory.data(), {}, 2, 2, 32});
    EXPECT_EQ(machine.read("t2", 'f', rows.object(), {{1.5f, 0.5f}})[0][0], 20);
  });
}

TEST(Textures, LayersAndFaces) {
  on_all([](Machine& machine) {
    std::vector<float> values(8 * 8 * 12);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const Array lines = Array::create(machine.device, {.width = 8, .depth = 3, .layered = true});
    lines.upload(machine.stream, values.data());
    const Array sheets = Array::create(machine.device, {.width = 8, .height = 8, .depth = 12, .layered = true});
    sheets.upload(machine.stream, values.data());
    const Array cubes =
        Array::create(machine.device, {.width = 8, .height = 8, .depth = 12, .layered = true, .cubemap = true});
    cubes.upload(machine.stream, values.data());
    const Array cube = Array::create(machine.device, {.width = 8, .height = 8, .depth = 6, .cubemap = true});
    cube.upload(machine.stream, values.data());
    const Texture line = Texture::create(lines), sheet = Texture::create(sheets),
                  many = Texture::create(cubes, {.normalized_coordinates = true}),
                  one = Texture::create(cube, {.normalized_coordinates = true});
    const auto a1 = machine.read("a1", 'f', line.object(), {{3.5f, 0, 0, 1}, {3.5f, 0, 0, 9}, {3.5f, 0, 0, -1}});
    EXPECT_EQ((std::vector{a1[0][0], a1[1][0], a1[2][0]}), (std::vector{11.0, 19.0, 19.0}));
    const auto a2 = machine.read("a2", 'f', sheet.object(), {{2.5f, 1.5f, 0, 0}, {2.5f, 1.5f, 0, 11}});
    EXPECT_EQ((std::vector{a2[0][0], a2[1][0]}), (std::vector{10.0, 11 * 64 + 10.0}));
    // Towards the middle of a texel of each face: column 6, row 2 from its corner.
    const float s = 0.625f, t = -0.375f;
    const Coordinates faces = {{1, -t, -s, 1}, {-1, -t, s, 1}, {s, 1, t, 1},
                               {s, -1, -t, 1}, {s, -t, 1, 1},  {-s, -t, -1, 1}};
    const auto on_one = machine.read("cube", 'f', one.object(), faces),
               on_many = machine.read("acube", 'f', many.object(), faces);
    for (size_t face = 0; face < 6; ++face) {
      EXPECT_EQ(on_one[face][0], static_cast<double>(face) * 64 + 2 * 8 + 6) << face;
      EXPECT_EQ(on_many[face][0], static_cast<double>(face + 6) * 64 + 2 * 8 + 6) << face;
    }
  });
}

TEST(Textures, GathersFourTexels) {
  on_all([](Machine& machine) {
    std::vector<float> values(4 * 4 * 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / 4 + 100 * (i % 4));
    const Array array = Array::create(
        machine.device, {.format = {ChannelKind::floating, 32, 4}, .width = 4, .height = 4, .gather = true});
    array.upload(machine.stream, values.data());
    const Texture texture = Texture::create(array, {.filter = Filter::linear});
    EXPECT_EQ(machine.read("gather0", 'f', texture.object(), {{2, 2}})[0], (Texel{9, 10, 6, 5}));
    EXPECT_EQ(machine.read("gather2", 'f', texture.object(), {{0, 2}})[0], (Texel{208, 208, 204, 204}));
  });
}

TEST(Textures, LevelsOfDetail) {
  on_all([](Machine& machine) {
    const Array array = Array::create(machine.device, {.width = 64, .height = 32, .levels = 7});
    for (uint32_t level = 0; level < 7; ++level) {
      const std::vector<float> same(array.level_bytes(level) / 4, static_cast<float>(level));
      array.upload(machine.stream, same.data(), level);
    }
    Sampler sampler{
        .filter = Filter::linear, .normalized_coordinates = true, .level_filter = Filter::linear, .highest_level = 100};
    Coordinates at;
    for (int i = -8; i < 64; ++i) at.push_back({0.3f, 0.6f, 0, static_cast<float>(i) * 0.11f});
    for (const float bias : {0.0f, 0.75f})
      for (const float lowest : {0.0f, 1.25f})
        for (const float highest : {3.5f, 100.0f})
          for (const Filter filter : {Filter::point, Filter::linear}) {
            sampler.level_bias = bias, sampler.lowest_level = lowest, sampler.highest_level = highest;
            sampler.level_filter = filter;
            const Texture texture = Texture::create(array, sampler);
            const auto got = machine.read("lod", 'f', texture.object(), at);
            for (size_t i = 0; i < at.size(); ++i) {
              const double level = std::clamp(std::clamp<double>(at[i].w + bias, lowest, highest), 0.0, 6.0);
              if (filter == Filter::linear) EXPECT_NEAR(got[i][0], level, 1.01 / 256) << at[i].w;
              else EXPECT_NEAR(got[i][0], level, 0.51) << at[i].w;
            }
            const double fixed = machine.read("t2", 'f', texture.object(), {{0.3f, 0.6f}})[0][0];
            EXPECT_EQ(fixed, filter == Filter::linear ? lowest : std::floor(lowest + 0.5)) << "without a level";
          }
    sampler = {
        .filter = Filter::linear, .normalized_coordinates = true, .level_filter = Filter::linear, .highest_level = 100};
    const Texture texture = Texture::create(array, sampler);
    // Steps of 4 texels along x, 1 along y: level 2. Those of GPUs may be half a level off.
    EXPECT_NEAR(machine.read("grad", 'f', texture.object(), {{0.5f, 0.5f, 4.0f / 64, 1.0f / 32}})[0][0], 2, 0.55);
    EXPECT_NEAR(machine.read("grad", 'f', texture.object(), {{0.5f, 0.5f, 1.0f / 64, 8.0f / 32}})[0][0], 3, 0.55);
  });
}

}  // namespace
}  // namespace trine::compute
