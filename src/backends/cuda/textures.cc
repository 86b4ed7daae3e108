#include "backends/cuda/textures.h"

#include <algorithm>
#include <memory>

#include "backends/cuda/stream.h"

namespace trine::cuda {
namespace {

using compute::ArrayHandle;
using compute::ArrayShape;
using compute::BoxCopy;
using compute::BoxSide;
using compute::ChannelKind;
using compute::Filter;
using compute::Sampler;
using compute::StreamHandle;
using compute::TexelFormat;
using compute::TextureSource;

static_assert(sizeof(ResourceDescriptor) == 144 && sizeof(TextureDescriptor) == 104 && sizeof(Copy3d) == 200);

// One level, or the mipmaps that its levels belong to.
struct Array {
  ArrayId level = nullptr;
  MipmapId mipmap = nullptr;
};
Array& array_of(ArrayHandle handle) { return *static_cast<Array*>(handle); }

int format_of(const TexelFormat& format) {
  if (format.kind == ChannelKind::floating) return format.bits == 16 ? 0x10 : 0x20;
  const int first = format.kind == ChannelKind::unsigned_integer ? 1 : 8;
  return first + (format.bits == 8 ? 0 : format.bits == 16 ? 1 : 2);
}

ArrayDescriptor descriptor_of(const ArrayShape& shape) {
  const unsigned flags = (shape.layered ? kLayered : 0u) | (shape.surfaces ? kSurfaceLoadStore : 0u) |
                         (shape.cubemap ? kCubemap : 0u) | (shape.gather ? kTextureGather : 0u);
  return {shape.width, shape.height, shape.depth, format_of(shape.format), shape.format.channels, flags};
}

ArrayHandle create_array(int index, const ArrayShape& shape) {
  const DeviceContext& device = use_device(index);
  const ArrayDescriptor descriptor = descriptor_of(shape);
  auto array = std::make_unique<Array>();
  if (shape.levels == 1) check(api().array_create(&array->level, &descriptor), "cuArray3DCreate", device.last_kernel);
  else
    check(api().mipmap_create(&array->mipmap, &descriptor, shape.levels), "cuMipmappedArrayCreate", device.last_kernel);
  return array.release();
}

void destroy_array(int index, ArrayHandle handle) {
  const std::unique_ptr<Array> array(&array_of(handle));
  release(index, [&] {
    if (array->mipmap) api().mipmap_destroy(array->mipmap);
    else api().array_destroy(array->level);
  });
}

ArrayId level_of(const Array& array, uint32_t level) {
  ArrayId id = array.level;
  if (array.mipmap) check(api().mipmap_level(&id, array.mipmap, level), "cuMipmappedArrayGetLevel");
  return id;
}

CopyEnd end_of(const BoxSide& side) {
  CopyEnd made{.x = side.x_bytes, .y = side.y, .z = side.z};
  if (side.array) {
    made.type = kArrayMemory;
    made.array = level_of(array_of(side.array), side.level);
    return made;
  }
  made.type = side.host ? kHostMemory : kDeviceMemory;
  if (side.host) made.host = side.memory;
  else made.device = reinterpret_cast<DevicePointer>(side.memory);
  made.row_bytes = side.row_bytes;
  made.rows = side.rows;
  return made;
}

void copy(int index, const BoxCopy& box, StreamHandle stream) {
  if (!box.width_bytes || !box.height || !box.depth) return;
  const DeviceContext& device = use_device(index);
  const Copy3d call{end_of(box.from), end_of(box.to), box.width_bytes, box.height, box.depth};
  check(api().copy_3d(&call, id_of(stream)), "cuMemcpy3DAsync", last_kernel_on(device, stream));
}

ResourceDescriptor resource_of(const TextureSource& source) {
  ResourceDescriptor resource{};
  const auto memory = reinterpret_cast<DevicePointer>(source.memory);
  if (source.array) {
    const Array& array = array_of(source.array);
    resource.type = array.mipmap ? 1 : 0;
    if (array.mipmap) resource.mipmap = array.mipmap;
    else resource.array = array.level;
  } else if (!source.width) {
    resource.type = 2;
    resource.linear = {memory, format_of(source.format), source.format.channels, source.bytes};
  } else {
    resource.type = 3;
    resource.rows = {memory,        format_of(source.format), source.format.channels, source.width,
                     source.height, source.row_bytes};
  }
  return resource;
}

uint64_t create_texture(int index, const TextureSource& source, const Sampler& sampler) {
  const DeviceContext& device = use_device(index);
  const ResourceDescriptor resource = resource_of(source);
  TextureDescriptor how{};
  for (int i = 0; i < 3; ++i) how.address[i] = static_cast<int>(sampler.address[i]);
  how.filter = sampler.filter == Filter::linear;
  how.flags = (sampler.read == compute::ReadMode::element ? kReadAsInteger : 0u) |
              (sampler.normalized_coordinates ? kNormalizedCoordinates : 0u) | (sampler.srgb ? kSrgb : 0u) |
              (sampler.seamless_cubemap ? kSeamlessCubemap : 0u);
  how.anisotropy = sampler.most_anisotropy;
  how.level_filter = sampler.level_filter == Filter::linear;
  how.level_bias = sampler.level_bias;
  how.lowest_level = sampler.lowest_level;
  how.highest_level = sampler.highest_level;
  std::copy(sampler.border, sampler.border + 4, how.border);
  uint64_t texture = 0;
  check(api().texture_create(&texture, &resource, &how, nullptr), "cuTexObjectCreate", device.last_kernel);
  return texture;
}

void destroy_texture(int index, uint64_t texture) {
  release(index, [texture] { api().texture_destroy(texture); });
}

uint64_t create_surface(int index, ArrayHandle array, uint32_t level) {
  const DeviceContext& device = use_device(index);
  ResourceDescriptor resource{};
  resource.array = level_of(array_of(array), level);
  uint64_t surface = 0;
  check(api().surface_create(&surface, &resource), "cuSurfObjectCreate", device.last_kernel);
  return surface;
}

void destroy_surface(int index, uint64_t surface) {
  release(index, [surface] { api().surface_destroy(surface); });
}

}  // namespace

const compute::TextureTable kTextures = {
    .create_array = create_array,
    .destroy_array = destroy_array,
    .copy = copy,
    .create_texture = create_texture,
    .destroy_texture = destroy_texture,
    .create_surface = create_surface,
    .destroy_surface = destroy_surface,
};

}  // namespace trine::cuda
