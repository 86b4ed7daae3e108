// Texture and surface objects, and what they were made with.
#include <algorithm>
#include <map>

#include "compute/texture_check.h"
#include "cudart/array.h"
#include "cudart/memory.h"
#include "cudart/stream.h"

namespace trine::cudart {
namespace {

using compute::AddressMode;
using compute::Filter;
using compute::Sampler;
using compute::TextureSource;

struct Object {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  int device = 0;
};
struct Objects {
  std::mutex mutex;
  std::map<unsigned long long, Object> textures, surfaces;
};
Objects& objects() {
  static Objects& held = *new Objects;
  return held;
}

Object find(const std::map<unsigned long long, Object>& all, unsigned long long handle) {
  const std::lock_guard lock(objects().mutex);
  const auto found = all.find(handle);
  need(found != all.end(), cudaErrorInvalidResourceHandle);
  return found->second;
}

Object take(std::map<unsigned long long, Object>& all, unsigned long long handle) {
  const std::lock_guard lock(objects().mutex);
  const auto found = all.find(handle);
  need(found != all.end(), cudaErrorInvalidResourceHandle);
  const Object object = found->second;
  all.erase(found);
  return object;
}

void keep(std::map<unsigned long long, Object>& all, unsigned long long handle, const Object& object) {
  const std::lock_guard lock(objects().mutex);
  all[handle] = object;
}

uint32_t narrow(size_t size) {
  need(size <= UINT32_MAX);
  return static_cast<uint32_t>(size);
}

TextureSource source_of(const cudaResourceDesc& resource) {
  const auto& r = resource.res;
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray& array = array_of(r.array.array);
      if (array.shape.levels > 1) fail(cudaErrorNotSupported, "a texture of one level of a mipmapped array");
      return {.array = array.handle, .shape = array.shape};
    }
    case cudaResourceTypeMipmappedArray:
      need(r.mipmap.mipmap, cudaErrorInvalidResourceHandle);
      return {.array = r.mipmap.mipmap->all.handle, .shape = r.mipmap.mipmap->all.shape};
    case cudaResourceTypeLinear:
      need_inside(r.linear.devPtr, r.linear.sizeInBytes);
      return {.memory = r.linear.devPtr, .format = format_of(r.linear.desc), .bytes = r.linear.sizeInBytes};
    case cudaResourceTypePitch2D:
      need(r.pitch2D.width && r.pitch2D.height);
      return {.memory = r.pitch2D.devPtr,
              .format = format_of(r.pitch2D.desc),
              .width = narrow(r.pitch2D.width),
              .height = narrow(r.pitch2D.height),
              .row_bytes = r.pitch2D.pitchInBytes};
  }
  fail(cudaErrorInvalidValue);
}

Sampler sampler_of(const cudaTextureDesc& desc) {
  Sampler sampler;
  for (int i = 0; i < 3; ++i) {
    need(desc.addressMode[i] >= cudaAddressModeWrap && desc.addressMode[i] <= cudaAddressModeBorder);
    sampler.address[i] = static_cast<AddressMode>(desc.addressMode[i]);
  }
  sampler.filter = desc.filterMode == cudaFilterModeLinear ? Filter::linear : Filter::point;
  sampler.read =
      desc.readMode == cudaReadModeNormalizedFloat ? compute::ReadMode::normalized_float : compute::ReadMode::element;
  sampler.normalized_coordinates = desc.normalizedCoords;
  sampler.srgb = desc.sRGB;
  std::copy(desc.borderColor, desc.borderColor + 4, sampler.border);
  sampler.level_filter = desc.mipmapFilterMode == cudaFilterModeLinear ? Filter::linear : Filter::point;
  sampler.level_bias = desc.mipmapLevelBias;
  sampler.lowest_level = desc.minMipmapLevelClamp;
  sampler.highest_level = desc.maxMipmapLevelClamp;
  sampler.most_anisotropy = desc.maxAnisotropy;
  sampler.seamless_cubemap = desc.seamlessCubemap;
  return sampler;
}

}  // namespace
}  // namespace trine::cudart

using namespace trine::cudart;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return call([&] {
    need(out && resource && texture);
    if (view) fail(cudaErrorNotSupported, "a resource view; pass none");
    const auto source = source_of(*resource);
    const auto sampler = sampler_of(*texture);
    trine::compute::check_texture(source, sampler);
    const int device = current_device();
    *out = texture_table().create_texture(device, source, sampler);
    keep(objects().textures, *out, {*resource, *texture, device});
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return call([&] {
    machine();
    if (!handle) return;
    const Object object = take(objects().textures, handle);
    if (machine().gpu) synchronize_all();
    texture_table().destroy_texture(object.device, handle);
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t handle) {
  return call([&] {
    need(out);
    *out = find(objects().textures, handle).resource;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t handle) {
  return call([&] {
    need(out);
    *out = find(objects().textures, handle).texture;
  });
}
// No texture has one.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out, cudaTextureObject_t handle) {
  return call([&] {
    need(out);
    find(objects().textures, handle);
    fail(cudaErrorInvalidValue, "the texture was made without a resource view");
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return call([&] {
    need(out && resource && resource->resType == cudaResourceTypeArray);
    const cudaArray& array = array_of(resource->res.array.array);
    need(array.shape.surfaces);
    *out = texture_table().create_surface(array.device, array.handle, array.level);
    keep(objects().surfaces, *out, {*resource, {}, array.device});
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return call([&] {
    machine();
    if (!handle) return;
    const Object object = take(objects().surfaces, handle);
    if (machine().gpu) synchronize_all();
    texture_table().destroy_surface(object.device, handle);
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t handle) {
  return call([&] {
    need(out);
    *out = find(objects().surfaces, handle).resource;
  });
}
