// TextureTable: arrays, textures and surfaces of a backend; KernelTable::textures. Functions throw Error as
// compute/texture.h says; the caller has checked shapes and samplers with compute/texture_check.h.
#pragma once

#include "compute/backend_table.h"
#include "trine/compute/texture.h"

namespace trine::compute {

using ArrayHandle = void*;

// A box of an array's level or of rows in memory.
struct BoxSide {
  ArrayHandle array = nullptr;
  uint32_t level = 0;
  void* memory = nullptr;          // when there is no array
  bool host = true;                // memory
  size_t row_bytes = 0, rows = 0;  // memory: from row to row; rows from slice to slice
  size_t x_bytes = 0, y = 0, z = 0;
};
struct BoxCopy {
  BoxSide to, from;
  size_t width_bytes = 0, height = 1, depth = 1;
};

// An array, or memory of the device: `bytes` of a row, or `width` x `height` with a pitch.
struct TextureSource {
  ArrayHandle array = nullptr;
  ArrayShape shape;  // of the array
  const void* memory = nullptr;
  TexelFormat format;
  size_t bytes = 0;
  uint32_t width = 0, height = 0;
  size_t row_bytes = 0;
};

struct TextureTable {
  ArrayHandle (*create_array)(int device, const ArrayShape& shape);
  void (*destroy_array)(int device, ArrayHandle array);  // never throws
  void (*copy)(int device, const BoxCopy& copy, StreamHandle stream);
  uint64_t (*create_texture)(int device, const TextureSource& source, const Sampler& sampler);
  void (*destroy_texture)(int device, uint64_t texture);  // never throws
  uint64_t (*create_surface)(int device, ArrayHandle array, uint32_t level);
  void (*destroy_surface)(int device, uint64_t surface);  // never throws
};

}  // namespace trine::compute
