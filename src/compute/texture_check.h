// What arrays and textures may be, on every backend.
#pragma once

#include "compute/texture_table.h"

namespace trine::compute {

// Throw Error{invalid_argument}.
void check_array(const ArrayShape& shape);
void check_texture(const TextureSource& source, const Sampler& sampler);

// Slices of a level in memory: depth, layers or faces.
uint32_t slices_of(const ArrayShape& shape, uint32_t level);

}  // namespace trine::compute
