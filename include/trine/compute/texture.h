// Arrays, textures and surfaces of kernels in CUDA C++: images that kernels read with filters and at borders.
//
//   auto image = Array::create(device, {.format = {ChannelKind::unsigned_integer, 8, 4}, .width = 640, .height = 480});
//   image.upload(stream, pixels);
//   auto texture = Texture::create(image, {.filter = Filter::linear, .read = ReadMode::normalized_float});
//   kernel.launch(stream, shape, texture.object(), out);   // __global__ void k(cudaTextureObject_t t, float4* out)
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "trine/compute/device.h"

namespace trine::compute {

enum class ChannelKind : uint8_t { signed_integer, unsigned_integer, floating };

struct TexelFormat {
  ChannelKind kind = ChannelKind::floating;
  uint8_t bits = 32;     // of a channel: 8, 16, 32; floating ones have 16 or 32
  uint8_t channels = 1;  // 1, 2, 4
  bool operator==(const TexelFormat&) const = default;
  uint32_t bytes() const { return bits / 8u * channels; }
};

// As CUDA has it: a height or depth of 0 is a dimension that is not there.
struct ArrayShape {
  TexelFormat format;
  uint32_t width = 0, height = 0;
  uint32_t depth = 0;   // layers where `layered`; 6 for each cube
  uint32_t levels = 1;  // more than 1: mipmaps
  bool layered = false;
  bool cubemap = false;   // faces +x -x +y -y +z -z, square
  bool surfaces = false;  // kernels may write it
  bool gather = false;    // tex2Dgather
  bool operator==(const ArrayShape&) const = default;
};

// Rows, columns and slices of a level, at least 1 each.
struct LevelExtent {
  uint32_t width, height, depth;
  bool operator==(const LevelExtent&) const = default;
};
LevelExtent extent_of(const ArrayShape& shape, uint32_t level = 0);

enum class AddressMode : uint8_t { wrap, clamp, mirror, border };
enum class Filter : uint8_t { point, linear };
enum class ReadMode : uint8_t { element, normalized_float };

// How a texture is read. Wrap and mirror need normalised coordinates and are clamp without.
struct Sampler {
  AddressMode address[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  Filter filter = Filter::point;
  ReadMode read = ReadMode::element;
  bool normalized_coordinates = false;
  bool srgb = false;  // 8-bit channels, read as fractions
  float border[4] = {0, 0, 0, 0};
  Filter level_filter = Filter::point;  // of mipmaps, as what follows
  float level_bias = 0, lowest_level = 0, highest_level = 0;
  uint32_t most_anisotropy = 0;   // GPUs only
  bool seamless_cubemap = false;  // GPUs only
  bool operator==(const Sampler&) const = default;
};

// Memory in a device's own layout; freed on destruction, when work that uses it must be finished. Throws
// Error{invalid_argument, out_of_memory, unsupported}.
class Array {
 public:
  static Array create(const Device& device, const ArrayShape& shape);
  Array(Array&& other) noexcept;
  Array& operator=(Array&& other) noexcept;
  ~Array();

  const ArrayShape& shape() const { return shape_; }
  size_t level_bytes(uint32_t level = 0) const;
  // A whole level; on the host its rows and slices lie one after the other.
  void upload(Stream& stream, const void* from, uint32_t level = 0) const;
  void download(Stream& stream, void* to, uint32_t level = 0) const;

 private:
  friend class Texture;
  friend class Surface;
  Array(Device device, const ArrayShape& shape, void* handle)
      : device_(std::move(device)), shape_(shape), handle_(handle) {}
  Device device_;
  ArrayShape shape_;
  void* handle_;
};

// Memory of a device as a texture: one row for tex1Dfetch, or rows `row_bytes` apart for tex2D.
struct LinearMemory {
  const void* memory;
  TexelFormat format;
  size_t bytes;
};
struct PitchedMemory {
  const void* memory;
  TexelFormat format;
  uint32_t width, height;
  size_t row_bytes;
};

// What a kernel's argument names, freed on destruction, when work that uses it must be finished.
class KernelObject {
 public:
  KernelObject(KernelObject&& other) noexcept;
  KernelObject& operator=(KernelObject&& other) noexcept;
  ~KernelObject();
  uint64_t object() const { return object_; }  // the kernel's argument

 protected:
  enum class Kind : uint8_t { texture, surface };
  KernelObject(Kind kind, Device device, uint64_t object) : device_(std::move(device)), object_(object), kind_(kind) {}

 private:
  Device device_;
  uint64_t object_;
  Kind kind_;
};

// A cudaTextureObject_t. What it reads must outlive it. Throws Error{invalid_argument, unsupported}.
class Texture : public KernelObject {
 public:
  static Texture create(const Array& array, const Sampler& sampler = {});
  static Texture create(const Device& device, const LinearMemory& memory, const Sampler& sampler = {});
  static Texture create(const Device& device, const PitchedMemory& memory, const Sampler& sampler = {});

 private:
  Texture(Device device, uint64_t object) : KernelObject(Kind::texture, std::move(device), object) {}
};

// A cudaSurfaceObject_t on one level of an array of ArrayShape::surfaces. Throws Error{invalid_argument}.
class Surface : public KernelObject {
 public:
  static Surface create(const Array& array, uint32_t level = 0);

 private:
  Surface(Device device, uint64_t object) : KernelObject(Kind::surface, std::move(device), object) {}
};

}  // namespace trine::compute
