#include "simt/run/textures.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "compute/immediate.h"
#include "compute/texture_check.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

using compute::ArrayHandle;
using compute::ArrayShape;
using compute::BoxCopy;
using compute::BoxSide;
using compute::StreamHandle;
using trine_texture::Level;
using trine_texture::TextureView;

constexpr size_t kRowAlign = 64;

// What kernels look at is memory of the device.
const compute::BackendTable& cpu() { return *compute::find_backend("cpu"); }

CpuArray& array_of(ArrayHandle handle) { return *static_cast<CpuArray*>(handle); }

Level layout_of(const ArrayShape& shape, uint32_t level) {
  const compute::LevelExtent extent = compute::extent_of(shape, level);
  const size_t row = (size_t{extent.width} * shape.format.bytes() + kRowAlign - 1) / kRowAlign * kRowAlign;
  const size_t slice = row * extent.height, all = slice * compute::slices_of(shape, level);
  if (all >= size_t{1} << 31)
    throw Error(ErrorCode::unsupported,
                fmt::format("cpu: an array with a level of {} bytes; accepted are less than 2^31", all));
  return {nullptr,
          static_cast<int>(extent.width),
          static_cast<int>(extent.height),
          static_cast<int>(extent.depth),
          static_cast<int>(row),
          static_cast<int>(slice)};
}

ArrayHandle create_array(int device, const ArrayShape& shape) {
  auto array = std::make_unique<CpuArray>();
  array->shape = shape;
  size_t begins[trine_texture::kMostLevels] = {}, bytes = 0;
  for (uint32_t i = 0; i < shape.levels; ++i) {
    array->level[i] = layout_of(shape, i);
    begins[i] = bytes;
    bytes += static_cast<size_t>(array->level[i].slice_bytes) * compute::slices_of(shape, i);
  }
  array->memory = cpu().allocate(device, bytes);
  for (uint32_t i = 0; i < shape.levels; ++i) array->level[i].texels = static_cast<char*>(array->memory) + begins[i];
  return array.release();
}

void destroy_array(int device, ArrayHandle handle) {
  cpu().free(device, array_of(handle).memory);
  delete &array_of(handle);
}

// Where a row of a box begins.
char* row_of(const BoxSide& side, size_t y, size_t z) {
  if (!side.array)
    return static_cast<char*>(side.memory) + ((side.z + z) * side.rows + side.y + y) * side.row_bytes + side.x_bytes;
  const Level& level = array_of(side.array).level[side.level];
  return level.texels + (side.z + z) * static_cast<size_t>(level.slice_bytes) +
         (side.y + y) * static_cast<size_t>(level.row_bytes) + side.x_bytes;
}

void copy(int, const BoxCopy& box, StreamHandle stream) {
  compute::check_stream(stream);
  for (size_t z = 0; box.width_bytes && z < box.depth; ++z)
    for (size_t y = 0; y < box.height; ++y) std::memmove(row_of(box.to, y, z), row_of(box.from, y, z), box.width_bytes);
}

uint64_t object_of(int device, const TextureView& view) {
  return reinterpret_cast<uint64_t>(new (cpu().allocate(device, sizeof view)) TextureView(view));
}

void destroy(int device, uint64_t object) { cpu().free(device, reinterpret_cast<void*>(object)); }

}  // namespace

const compute::TextureTable kTextures = {
    .create_array = create_array,
    .destroy_array = destroy_array,
    .copy = copy,
    .create_texture = [](int device, const compute::TextureSource& source,
                         const compute::Sampler& sampler) { return object_of(device, view_of(source, sampler)); },
    .destroy_texture = destroy,
    .create_surface = [](int device, ArrayHandle array,
                         uint32_t level) { return object_of(device, view_of_surface(array_of(array), level)); },
    .destroy_surface = destroy,
};

}  // namespace trine::simt
