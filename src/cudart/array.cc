#include "cudart/array.h"

#include <fmt/format.h>

#include <memory>

#include "compute/texture_check.h"
#include "cudart/stream.h"

namespace trine::cudart {

const compute::TextureTable& texture_table() {
  const compute::TextureTable* table = machine().kernels ? machine().kernels->textures : nullptr;
  if (!table) fail(cudaErrorNotSupported, "textures");
  return *table;
}

cudaArray& array_of(cudaArray_const_t handle) {
  need(handle, cudaErrorInvalidResourceHandle);
  return *const_cast<cudaArray_t>(handle);
}

compute::TexelFormat format_of(const cudaChannelFormatDesc& c) {
  using compute::ChannelKind;
  const int channels = c.w ? 4 : c.z ? 3 : c.y ? 2 : 1;
  const bool equal = (channels < 2 || c.y == c.x) && (channels < 3 || c.z == c.x) && (channels < 4 || c.w == c.x);
  const bool known =
      c.f == cudaChannelFormatKindSigned || c.f == cudaChannelFormatKindUnsigned || c.f == cudaChannelFormatKindFloat;
  const bool bits = c.x == 16 || c.x == 32 || (c.x == 8 && c.f != cudaChannelFormatKindFloat);
  need(equal && known && bits && channels != 3, cudaErrorInvalidChannelDescriptor);
  const ChannelKind kind = c.f == cudaChannelFormatKindSigned     ? ChannelKind::signed_integer
                           : c.f == cudaChannelFormatKindUnsigned ? ChannelKind::unsigned_integer
                                                                  : ChannelKind::floating;
  return {kind, static_cast<uint8_t>(c.x), static_cast<uint8_t>(channels)};
}

namespace {

uint32_t narrow(size_t size) {
  need(size <= UINT32_MAX);
  return static_cast<uint32_t>(size);
}

cudaArray make(const cudaChannelFormatDesc* channels, const cudaExtent& extent, unsigned levels, unsigned flags) {
  need(channels && flags < 16);
  compute::ArrayShape shape{.format = format_of(*channels),
                            .width = narrow(extent.width),
                            .height = narrow(extent.height),
                            .depth = narrow(extent.depth),
                            .levels = levels,
                            .layered = (flags & cudaArrayLayered) != 0,
                            .cubemap = (flags & cudaArrayCubemap) != 0,
                            .surfaces = (flags & cudaArraySurfaceLoadStore) != 0,
                            .gather = (flags & cudaArrayTextureGather) != 0};
  compute::check_array(shape);
  const int device = current_device();
  return {texture_table().create_array(device, shape), shape, *channels, 0, device, flags};
}

void destroy(const cudaArray& array) {
  if (machine().gpu) synchronize_all();
  texture_table().destroy_array(array.device, array.handle);
}

}  // namespace
}  // namespace trine::cudart

using namespace trine::cudart;
using trine::compute::LevelExtent;

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* channels, cudaExtent extent,
                              unsigned flags) {
  return call([&] {
    need(out);
    *out = new cudaArray(make(channels, extent, 1, flags));
  });
}

cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* channels, size_t width, size_t height,
                            unsigned flags) {
  return cudaMalloc3DArray(out, channels, {width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* channels,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  return call([&] {
    need(out && levels);
    auto made = std::make_unique<cudaMipmappedArray>();
    made->all = make(channels, extent, levels, flags);
    made->levels.assign(levels, made->all);
    for (uint32_t i = 0; i < levels; ++i) made->levels[i].level = i;
    *out = made.release();
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t mipmaps, unsigned level) {
  return call([&] {
    need(mipmaps, cudaErrorInvalidResourceHandle);
    need(out && level < mipmaps->levels.size());
    *out = const_cast<cudaArray*>(&mipmaps->levels[level]);
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&] {
    machine();
    if (!array) return;
    need(array->shape.levels == 1, cudaErrorInvalidResourceHandle);
    const std::unique_ptr<cudaArray> held(array);
    destroy(*held);
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmaps) {
  return call([&] {
    machine();
    if (!mipmaps) return;
    const std::unique_ptr<cudaMipmappedArray> held(mipmaps);
    destroy(held->all);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags, cudaArray_t handle) {
  return call([&] {
    const cudaArray& array = array_of(handle);
    const LevelExtent level = extent_of(array.shape, array.level);
    const bool sheets = array.shape.layered || array.shape.cubemap;
    if (channels) *channels = array.channels;
    if (extent)
      *extent = {level.width, array.shape.height ? level.height : 0,
                 sheets              ? array.shape.depth
                 : array.shape.depth ? level.depth
                                     : 0};
    if (flags) *flags = array.flags;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
  return call([&] {
    need(channels);
    *channels = array_of(array).channels;
  });
}
