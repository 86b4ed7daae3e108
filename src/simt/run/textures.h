// Arrays, textures and surfaces on the CPU. An object is the address of a TextureView (simt/headers).
#pragma once

#include "compute/texture_table.h"
#include "simt/headers/trine_texture_view.h"

namespace trine::simt {

extern const compute::TextureTable kTextures;

// Levels of texels, rows of 64 bytes.
struct CpuArray {
  compute::ArrayShape shape;
  trine_texture::Level level[trine_texture::kMostLevels] = {};
  void* memory = nullptr;
};

// The view of a texture, without its address. Throws Error{unsupported} for what is too large.
trine_texture::TextureView view_of(const compute::TextureSource& source, const compute::Sampler& sampler);
trine_texture::TextureView view_of_surface(const CpuArray& array, uint32_t level);

}  // namespace trine::simt
