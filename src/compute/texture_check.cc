#include "compute/texture_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "trine/base/error.h"

namespace trine::compute {
namespace {

[[noreturn]] void bad(std::string message) { throw Error(ErrorCode::invalid_argument, std::move(message)); }

constexpr uint32_t kMostLayers = 2048;

void check_format(const TexelFormat& format) {
  const bool bits =
      format.bits == 16 || format.bits == 32 || (format.bits == 8 && format.kind != ChannelKind::floating);
  const bool channels = format.channels == 1 || format.channels == 2 || format.channels == 4;
  if (!bits || !channels)
    bad(fmt::format("texels: {} channels of {} bits{}; accepted are 1, 2, 4 of 8 (integers), 16, 32", format.channels,
                    format.bits, format.kind == ChannelKind::floating ? ", floating" : ""));
}

std::string text_of(const ArrayShape& shape) {
  return fmt::format("array: {} x {} x {}{}{}", shape.width, shape.height, shape.depth,
                     shape.cubemap ? ", cubemap" : "", shape.layered ? ", layered" : "");
}

void check_cube(const ArrayShape& shape) {
  const bool depth = shape.layered ? shape.depth > 0 && shape.depth % 6 == 0 : shape.depth == 6;
  if (shape.width != shape.height || !depth)
    bad(text_of(shape) + "; cubes are as high as wide, with a depth of 6, layered ones of 6 for each");
}

void check_extent(const ArrayShape& shape) {
  const bool solid = shape.depth && !shape.layered && !shape.cubemap;
  const uint32_t most = solid ? 16384 : shape.height ? 131072 : 262144;
  if (shape.width == 0 || shape.width > most || shape.height > (solid ? 16384u : 65536u) ||
      (solid && shape.depth > 16384))
    bad(fmt::format("{}; accepted are widths of 1 to {}, heights to 65536, 16384 in three dimensions", text_of(shape),
                    most));
  if (solid && !shape.height) bad(text_of(shape) + "; what has a depth has a height");
  if ((shape.layered || shape.cubemap) && (shape.depth == 0 || shape.depth > kMostLayers))
    bad(fmt::format("{}; accepted are 1 to {} layers", text_of(shape), kMostLayers));
}

bool reads_floats(const TexelFormat& format, const Sampler& sampler) {
  return format.kind == ChannelKind::floating || sampler.read == ReadMode::normalized_float;
}

void check_memory(const TextureSource& source) {
  check_format(source.format);
  const uint32_t texel = source.format.bytes();
  if (reinterpret_cast<uintptr_t>(source.memory) % 16 || !source.memory)
    bad("texture: memory that is not aligned to 16 bytes; use the start of an allocation");
  if (!source.width) {
    if (source.bytes < texel || source.bytes / texel > (1u << 27))
      bad(fmt::format("texture: {} bytes of memory; accepted are 1 to 2^27 texels of {} bytes", source.bytes, texel));
    return;
  }
  if (!source.height || source.width > 131072 || source.height > 65000 || source.row_bytes % 32 ||
      source.row_bytes < size_t{source.width} * texel)
    bad(fmt::format(
        "texture: {} x {} texels in rows of {} bytes; accepted are to 131072 x 65000, rows of a multiple of "
        "32 bytes that hold them",
        source.width, source.height, source.row_bytes));
}

}  // namespace

LevelExtent extent_of(const ArrayShape& shape, uint32_t level) {
  const auto halved = [level](uint32_t size) { return std::max(1u, level < 32 ? size >> level : 0); };
  const bool solid = shape.depth && !shape.layered && !shape.cubemap;
  return {halved(shape.width), halved(shape.height), solid ? halved(shape.depth) : 1};
}

uint32_t slices_of(const ArrayShape& shape, uint32_t level) {
  return shape.layered || shape.cubemap ? shape.depth : extent_of(shape, level).depth;
}

void check_array(const ArrayShape& shape) {
  check_format(shape.format);
  if (shape.cubemap) check_cube(shape);
  check_extent(shape);
  const LevelExtent extent = extent_of(shape);
  const auto most = static_cast<uint32_t>(std::bit_width(std::max({extent.width, extent.height, extent.depth})));
  if (shape.levels == 0 || shape.levels > most)
    bad(fmt::format("{}: {} levels; accepted are 1 to {}", text_of(shape), shape.levels, most));
  if (shape.gather && (!shape.height || shape.depth)) bad(text_of(shape) + "; gathers are of two dimensions");
}

void check_texture(const TextureSource& source, const Sampler& sampler) {
  if (!source.array) check_memory(source);
  const TexelFormat& format = source.array ? source.shape.format : source.format;
  const bool narrow = format.kind != ChannelKind::floating && format.bits < 32;
  if (sampler.read == ReadMode::normalized_float && format.kind != ChannelKind::floating && !narrow)
    bad(fmt::format("texture: {}-bit integers as fractions; accepted are 8 and 16 bits", format.bits));
  const bool linear = sampler.filter == Filter::linear || sampler.level_filter == Filter::linear;
  if (linear && !reads_floats(format, sampler) && (source.array || source.width))
    bad("texture: a linear filter of integers; read them as ReadMode::normalized_float");
  if (sampler.srgb &&
      (format.bits != 8 || format.kind != ChannelKind::unsigned_integer || sampler.read != ReadMode::normalized_float))
    bad("texture: sRGB; accepted for unsigned channels of 8 bits, read as fractions");
  if (source.array && source.shape.levels > 1 && !sampler.normalized_coordinates)
    bad("texture: mipmaps without normalised coordinates; set Sampler::normalized_coordinates");
}

}  // namespace trine::compute
