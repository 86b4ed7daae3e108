// Texture reads in double precision, after the formulas of the CUDA C++ Programming Guide; what tests hold devices to.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "trine/compute/texture.h"

namespace trine::compute {

using Texel = std::array<double, 4>;

// Texels of one level, rows of slices, from bytes as they lie in memory; channels that are missing are 0.
std::vector<Texel> decoded(const std::vector<uint8_t>& bytes, const TexelFormat& format, const Sampler& sampler);

// What an image of this format has around it: as fractions the nearest number that a channel can hold.
Texel border_of(const TexelFormat& format, const Sampler& sampler);

struct ReferenceImage {
  int width = 1, height = 1, depth = 1;
  std::vector<Texel> texels;
  Texel border;
};

// `dimensions` coordinates; weights have 8 bits.
Texel reference_sample(const ReferenceImage& image, const Sampler& sampler, const double* at, int dimensions);

// Whether a point sample is so near to the edge of a texel that rounding may choose its neighbour.
bool near_edge(const ReferenceImage& image, const Sampler& sampler, const double* at, int dimensions);

std::vector<uint8_t> random_texels(size_t texels, const TexelFormat& format, uint32_t seed);

}  // namespace trine::compute
