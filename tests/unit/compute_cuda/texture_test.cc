// Arrays, textures and surfaces through the driver's interface.
#include "trine/compute/texture.h"

#include "fixture.h"

namespace trine::compute {
namespace {

constexpr TexelFormat kBytes4{ChannelKind::unsigned_integer, 8, 4};

TEST_F(CudaTest, ArraysKeepWhatTheyAreGiven) {
  const size_t before = fake::objects();
  {
    Stream stream = gpu_.create_stream();
    const ArrayShape shapes[] = {{.width = 33},
                                 {.format = kBytes4, .width = 31, .height = 5, .surfaces = true},
                                 {.width = 4, .height = 3, .depth = 2},
                                 {.width = 8, .height = 8, .depth = 12, .layered = true, .cubemap = true},
                                 {.width = 32, .height = 16, .levels = 6}};
    for (const ArrayShape& shape : shapes) {
      const Array array = Array::create(gpu_, shape);
      for (uint32_t level = 0; level < shape.levels; ++level) {
        const size_t count = array.level_bytes(level) / 4;
        const std::vector<float> in = random_floats(count);
        std::vector<float> out(count + 1, 7);
        array.upload(stream, in.data(), level);
        array.download(stream, out.data(), level);
        stream.synchronize();
        EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin())) << shape.width << " level " << level;
        EXPECT_EQ(out.back(), 7);
      }
    }
  }
  EXPECT_EQ(fake::objects(), before);
}

TEST_F(CudaTest, TexturesAreDescribed) {
  const Array array = Array::create(gpu_, {.format = kBytes4, .width = 8, .height = 8, .levels = 4});
  const Sampler sampler{.address = {AddressMode::wrap, AddressMode::mirror, AddressMode::border},
                        .filter = Filter::linear,
                        .read = ReadMode::normalized_float,
                        .normalized_coordinates = true,
                        .srgb = true,
                        .border = {1, 2, 3, 4},
                        .level_filter = Filter::linear,
                        .level_bias = 0.5f,
                        .lowest_level = 1,
                        .highest_level = 3,
                        .most_anisotropy = 2};
  const Texture texture = Texture::create(array, sampler);
  EXPECT_NE(texture.object(), 0u);
  EXPECT_EQ(fake::resources().back().type, 1);
  const cuda::TextureDescriptor& how = fake::textures().back();
  EXPECT_EQ((std::vector<int>{how.address[0], how.address[1], how.address[2], how.filter, how.level_filter}),
            (std::vector<int>{0, 2, 3, 1, 1}));
  EXPECT_EQ(how.flags, unsigned{cuda::kNormalizedCoordinates | cuda::kSrgb});
  EXPECT_EQ((std::vector<float>{how.level_bias, how.lowest_level, how.highest_level, how.border[3]}),
            (std::vector<float>{0.5f, 1, 3, 4}));
  EXPECT_EQ(how.anisotropy, 2u);

  const Buffer buffer = gpu_.allocate(4096);
  const Texture linear = Texture::create(gpu_, LinearMemory{buffer.data(), {ChannelKind::signed_integer, 16, 2}, 400});
  const cuda::ResourceDescriptor resource = fake::resources().back();
  EXPECT_EQ(resource.type, 2);
  EXPECT_EQ(resource.linear.format, 9);
  EXPECT_EQ(resource.linear.channels, 2u);
  EXPECT_EQ(resource.linear.bytes, 400u);
  EXPECT_EQ(fake::textures().back().flags, unsigned{cuda::kReadAsInteger});
  const Texture rows = Texture::create(gpu_, PitchedMemory{buffer.data(), {}, 5, 6, 64});
  EXPECT_EQ(fake::resources().back().type, 3);
  EXPECT_EQ(fake::resources().back().rows.row_bytes, 64u);
}

TEST_F(CudaTest, MistakesInTextures) {
  const auto text = [&](const ArrayShape& shape) {
    return error_of(ErrorCode::invalid_argument, [&] { Array::create(gpu_, shape); });
  };
  EXPECT_TRUE(has(text({.width = 0}), "accepted are widths of 1"));
  EXPECT_TRUE(has(text({.format = {ChannelKind::floating, 8, 1}, .width = 1}), "1 channels of 8 bits, floating"));
  EXPECT_TRUE(has(text({.format = {ChannelKind::floating, 32, 3}, .width = 1}), "3 channels"));
  EXPECT_TRUE(has(text({.width = 4, .height = 5, .depth = 6, .cubemap = true}), "as high as wide"));
  EXPECT_TRUE(has(text({.width = 4, .height = 4, .levels = 4}), "accepted are 1 to 3"));
  const Array integers = Array::create(gpu_, {.format = kBytes4, .width = 4, .height = 4});
  const auto sampled = [&](const Sampler& sampler) {
    return error_of(ErrorCode::invalid_argument, [&] { Texture::create(integers, sampler); });
  };
  EXPECT_TRUE(has(sampled({.filter = Filter::linear}), "a linear filter of integers"));
  EXPECT_TRUE(has(sampled({.srgb = true}), "sRGB"));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { Surface::create(integers); }), "ArrayShape::surfaces"));
  fake::fail("cuTexObjectCreate", cuda::kInvalidValue);
  EXPECT_TRUE(has(error_of(ErrorCode::device, [&] { Texture::create(integers); }), "cuTexObjectCreate"));
}

}  // namespace
}  // namespace trine::compute
