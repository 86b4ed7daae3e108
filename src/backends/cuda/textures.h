// Arrays, textures and surfaces of NVIDIA GPUs.
#pragma once

#include "compute/texture_table.h"

namespace trine::cuda {

extern const compute::TextureTable kTextures;

}  // namespace trine::cuda
