// Surface objects on the CPU. Coordinates outside are zero, moved to the edge, or end the kernel, as the mode says.
#pragma once

#include "trine_texture_lookup.h"

namespace trine_texture {

struct Element {
  char* at;
  bool inside;
};

// `x` is in bytes. An element that is partly outside is outside.
TRINE_TEX Element element(const TextureView& view, int shape, int x, int y, int z, int bytes, int mode) {
  const Level& level = view.level[0];
  const int layer = shape == __trine_sa1d ? y : z;
  const int row = shape == __trine_s1d || shape == __trine_sa1d ? 0 : y;
  const int slice = shape == __trine_s3d || shape == __trine_sa1d || shape == __trine_sa2d ? layer : 0;
  const int slices = shape == __trine_s3d ? level.depth : view.layers;
  const int width = level.width * view.texel_bytes;
  const bool inside = x >= 0 && x <= width - bytes && row >= 0 && row < level.height && slice >= 0 && slice < slices;
  if (mode == cudaBoundaryModeTrap && !inside) __trap();
  const int column = clamped(x, 0, width - bytes);
  return {level.texels + (clamped(slice, 0, slices - 1) * level.slice_bytes +
                          clamped(row, 0, level.height - 1) * level.row_bytes + column),
          inside || mode == cudaBoundaryModeClamp};
}

template <class T>
TRINE_TEX void store(char* at, T value) {
  typedef T __attribute__((may_alias)) Any;
  *(Any*)at = value;
}

}  // namespace trine_texture

__attribute__((device, always_inline)) ulonglong2 __trine_surf_read(cudaSurfaceObject_t surface, int shape, int x,
                                                                    int y, int z, int bytes, int mode) noexcept {
  using namespace trine_texture;
  const Element e = element(*(const TextureView*)surface, shape, x, y, z, bytes, mode);
  ulonglong2 value = {0, 0};
  if (!e.inside) return value;
  if (bytes == 16) value = {load<unsigned long long>(e.at), load<unsigned long long>(e.at + 8)};
  else if (bytes == 8) value.x = load<unsigned long long>(e.at);
  else if (bytes == 4) value.x = load<unsigned>(e.at);
  else if (bytes == 2) value.x = load<unsigned short>(e.at);
  else value.x = load<unsigned char>(e.at);
  return value;
}

__attribute__((device, always_inline)) void __trine_surf_write(cudaSurfaceObject_t surface, int shape, int x, int y,
                                                               int z, int bytes, int mode, ulonglong2 value) noexcept {
  using namespace trine_texture;
  const Element e = element(*(const TextureView*)surface, shape, x, y, z, bytes, mode);
  if (!e.inside) return;
  if (bytes == 16) {
    store<unsigned long long>(e.at, value.x);
    store<unsigned long long>(e.at + 8, value.y);
  } else if (bytes == 8) store<unsigned long long>(e.at, value.x);
  else if (bytes == 4) store<unsigned>(e.at, (unsigned)value.x);
  else if (bytes == 2) store<unsigned short>(e.at, (unsigned short)value.x);
  else store<unsigned char>(e.at, (unsigned char)value.x);
}
