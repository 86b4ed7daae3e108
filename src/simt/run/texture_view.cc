// What kernels on the CPU are told of a texture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "simt/run/textures.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

using compute::AddressMode;
using compute::ChannelKind;
using compute::Filter;
using compute::ReadMode;
using compute::Sampler;
using compute::TexelFormat;
using compute::TextureSource;
using trine_texture::TextureView;

trine_texture::Decode decode_of(const TexelFormat& format, const Sampler& sampler) {
  using namespace trine_texture;
  if (format.kind == ChannelKind::floating) return format.bits == 16 ? kFloat16 : kFloat32;
  if (format.bits == 32) return kInteger32;
  const bool is_signed = format.kind == ChannelKind::signed_integer;
  if (sampler.read == ReadMode::normalized_float) {
    if (sampler.srgb) return kSrgb8;
    if (format.bits == 8) return is_signed ? kSigned8Norm : kUnsigned8Norm;
    return is_signed ? kSigned16Norm : kUnsigned16Norm;
  }
  if (format.bits == 8) return is_signed ? kSigned8 : kUnsigned8;
  return is_signed ? kSigned16 : kUnsigned16;
}

// IEC 61966-2-1: codes to light.
const float* srgb_table() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> made{};
    for (size_t i = 0; i < made.size(); ++i) {
      const double c = static_cast<double>(i) / 255;
      made[i] = static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return made;
  }();
  return table.data();
}

void describe_format(TextureView& view, const TexelFormat& format) {
  const int channel = format.bits / 8;
  view.texel_bytes = static_cast<int>(format.bytes());
  view.channels = format.channels;
  view.offset_y = format.channels > 1 ? channel : 0;
  view.offset_z = format.channels > 2 ? 2 * channel : 0;
  view.offset_w = format.channels > 3 ? 3 * channel : 0;
}

int address_of(AddressMode mode, bool normalized) {
  const bool folds = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return folds && !normalized ? trine_texture::kClamp : static_cast<int>(mode);
}

// Of a read without a level of detail.
void describe_levels(TextureView& view, const Sampler& sampler) {
  view.bias = sampler.level_bias;
  view.lowest = sampler.lowest_level;
  view.highest = std::max(sampler.lowest_level, sampler.highest_level);
  view.mip_linear = view.levels > 1 && sampler.level_filter == Filter::linear;
  // The bias is for levels that a kernel asks for.
  const float level =
      std::clamp(std::clamp(0.0f, view.lowest, view.highest), 0.0f, static_cast<float>(view.levels - 1));
  const int fixed = static_cast<int>(view.mip_linear ? level * 256 : std::floor(level + 0.5f) * 256);
  view.first_level = fixed >> 8;
  view.first_fraction = static_cast<float>(fixed & 255) / 256;
}

// What a channel of the format would hold, as an H200 has it: the nearest code, ties towards zero.
float fraction_in(float value, double codes, double lowest) {
  const double code = std::clamp(double{value} * codes, lowest * codes, codes);
  return static_cast<float>(std::copysign(std::ceil(std::abs(code) - 0.5), code) / codes);
}
float srgb_in(float value) {
  const double light = std::clamp(double{value}, 0.0, 1.0);
  const double code = light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return srgb_table()[static_cast<size_t>(std::lround(code * 255))];
}
float border_in(const TexelFormat& format, const Sampler& sampler, size_t channel) {
  const float value = sampler.border[channel];
  if (format.kind == ChannelKind::floating || format.bits == 32 || std::isnan(value)) return value;
  if (sampler.srgb && sampler.read == ReadMode::normalized_float && channel < 3) return srgb_in(value);
  const bool is_signed = format.kind == ChannelKind::signed_integer;
  return fraction_in(value, std::ldexp(1, format.bits - is_signed) - 1, is_signed ? -1 : 0);
}

void describe_sampler(TextureView& view, const Sampler& sampler, const TexelFormat& format) {
  view.linear = sampler.filter == Filter::linear;
  view.normalized = sampler.normalized_coordinates;
  for (int i = 0; i < 3; ++i) view.address[i] = address_of(sampler.address[i], sampler.normalized_coordinates);
  view.srgb = srgb_table();
  for (size_t i = 0; i < 4; ++i) {
    view.border[i] = border_in(format, sampler, i);
    view.border_words[i] = std::bit_cast<int>(sampler.border[i]);
  }
}

trine_texture::Level level_of(const TextureSource& source) {
  const size_t texel = source.format.bytes();
  const bool rows = source.width > 0;
  const size_t width = rows ? source.width : source.bytes / texel, height = rows ? source.height : 1;
  const size_t row = rows ? source.row_bytes : width * texel;
  if (row * height >= size_t{1} << 31)
    throw Error(ErrorCode::unsupported,
                fmt::format("cpu: a texture of {} bytes; accepted are less than 2^31", row * height));
  return {static_cast<char*>(const_cast<void*>(source.memory)),
          static_cast<int>(width),
          static_cast<int>(height),
          1,
          static_cast<int>(row),
          0};
}

}  // namespace

TextureView view_of(const TextureSource& source, const Sampler& sampler) {
  TextureView view{};
  view.layers = 1;
  view.levels = 1;
  if (sampler.seamless_cubemap && sampler.filter == Filter::linear)
    throw Error(ErrorCode::unsupported, "cpu: filters across the edges of cubes; unset Sampler::seamless_cubemap");
  const TexelFormat& format = source.array ? source.shape.format : source.format;
  describe_format(view, format);
  describe_sampler(view, sampler, format);
  view.decode = decode_of(format, sampler);
  if (!source.array) {
    view.level[0] = level_of(source);
    if (!source.width) view.linear = 0;
  } else {
    const auto& array = *static_cast<const CpuArray*>(source.array);
    view.levels = static_cast<int>(array.shape.levels);
    if (array.shape.layered || array.shape.cubemap) view.layers = static_cast<int>(array.shape.depth);
    std::copy(array.level, array.level + view.levels, view.level);
    if (array.shape.cubemap) view.address[0] = view.address[1] = trine_texture::kClamp;
  }
  describe_levels(view, sampler);
  return view;
}

TextureView view_of_surface(const CpuArray& array, uint32_t level) {
  TextureView view{};
  describe_format(view, array.shape.format);
  view.layers = array.shape.layered || array.shape.cubemap ? static_cast<int>(array.shape.depth) : 1;
  view.levels = 1;
  view.level[0] = array.level[level];
  return view;
}

}  // namespace trine::simt
