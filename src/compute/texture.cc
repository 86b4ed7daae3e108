#include "trine/compute/texture.h"

#include <fmt/format.h>

#include "compute/module_state.h"
#include "compute/texture_check.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

const Device::State& opened(const Device& device) { return Module::State::device_of(device); }

const TextureTable& table_of(const Device::State& device) {
  const KernelTable* kernels = find_kernel_table(device.table->name);
  if (!kernels || !kernels->textures)
    throw Error(ErrorCode::unsupported, fmt::format("texture: device '{}' has none", device.table->name));
  return *kernels->textures;
}

void check_level(const ArrayShape& shape, uint32_t level) {
  if (level >= shape.levels) bad(fmt::format("array: level {}; accepted are 0 to {}", level, shape.levels - 1));
}

// A level and its rows on the host, one after the other.
struct Whole {
  BoxSide array, host;
  BoxCopy copy;
};
Whole whole(ArrayHandle array, const ArrayShape& shape, uint32_t level, const void* host) {
  const LevelExtent extent = extent_of(shape, level);
  const size_t row = size_t{extent.width} * shape.format.bytes();
  Whole all;
  all.array = {.array = array, .level = level};
  all.host = {.memory = const_cast<void*>(host), .row_bytes = row, .rows = extent.height};
  all.copy.width_bytes = row;
  all.copy.height = extent.height;
  all.copy.depth = slices_of(shape, level);
  return all;
}

}  // namespace

Array Array::create(const Device& device, const ArrayShape& shape) {
  check_array(shape);
  return Array(device, shape, table_of(opened(device)).create_array(opened(device).index, shape));
}

Array::Array(Array&& other) noexcept
    : device_(other.device_), shape_(other.shape_), handle_(std::exchange(other.handle_, nullptr)) {}
Array& Array::operator=(Array&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(shape_, other.shape_);
  std::swap(handle_, other.handle_);
  return *this;
}
Array::~Array() {
  if (handle_) table_of(opened(device_)).destroy_array(opened(device_).index, handle_);
}

size_t Array::level_bytes(uint32_t level) const {
  check_level(shape_, level);
  const LevelExtent extent = extent_of(shape_, level);
  return size_t{extent.width} * extent.height * slices_of(shape_, level) * shape_.format.bytes();
}

void Array::upload(Stream& stream, const void* from, uint32_t level) const {
  check_level(shape_, level);
  Whole all = whole(handle_, shape_, level, from);
  all.copy.to = all.array;
  all.copy.from = all.host;
  const Device::State* device = &opened(device_);
  Kernel::State::submit(
      stream, [device, copy = all.copy](StreamHandle on) { table_of(*device).copy(device->index, copy, on); });
}

void Array::download(Stream& stream, void* to, uint32_t level) const {
  check_level(shape_, level);
  Whole all = whole(handle_, shape_, level, to);
  all.copy.to = all.host;
  all.copy.from = all.array;
  const Device::State* device = &opened(device_);
  Kernel::State::submit(
      stream, [device, copy = all.copy](StreamHandle on) { table_of(*device).copy(device->index, copy, on); });
}

namespace {
uint64_t make_texture(const Device::State& device, const TextureSource& source, const Sampler& sampler) {
  check_texture(source, sampler);
  return table_of(device).create_texture(device.index, source, sampler);
}
}  // namespace

Texture Texture::create(const Array& array, const Sampler& sampler) {
  const TextureSource source{.array = array.handle_, .shape = array.shape_};
  return Texture(array.device_, make_texture(opened(array.device_), source, sampler));
}
Texture Texture::create(const Device& device, const LinearMemory& memory, const Sampler& sampler) {
  const TextureSource source{.memory = memory.memory, .format = memory.format, .bytes = memory.bytes};
  return Texture(device, make_texture(opened(device), source, sampler));
}
Texture Texture::create(const Device& device, const PitchedMemory& memory, const Sampler& sampler) {
  if (!memory.width) bad("texture: rows of no texels; accepted are widths from 1");
  const TextureSource source{.memory = memory.memory,
                             .format = memory.format,
                             .width = memory.width,
                             .height = memory.height,
                             .row_bytes = memory.row_bytes};
  return Texture(device, make_texture(opened(device), source, sampler));
}

KernelObject::KernelObject(KernelObject&& other) noexcept
    : device_(other.device_), object_(std::exchange(other.object_, 0)), kind_(other.kind_) {}
KernelObject& KernelObject::operator=(KernelObject&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(object_, other.object_);
  std::swap(kind_, other.kind_);
  return *this;
}
KernelObject::~KernelObject() {
  if (!object_) return;
  const Device::State& device = opened(device_);
  if (kind_ == Kind::texture) table_of(device).destroy_texture(device.index, object_);
  else table_of(device).destroy_surface(device.index, object_);
}

Surface Surface::create(const Array& array, uint32_t level) {
  check_level(array.shape_, level);
  if (!array.shape_.surfaces) bad("surface: an array without ArrayShape::surfaces; create it with it");
  const Device::State& device = opened(array.device_);
  return Surface(array.device_, table_of(device).create_surface(device.index, array.handle_, level));
}

}  // namespace trine::compute
