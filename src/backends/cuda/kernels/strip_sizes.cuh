// What kernels of strips (strips.cuh) are told by value, for them and for the host that fills it in.
#pragma once

#include "divider.cuh"

namespace trine {

// A block makes tile_rows x tile_strips strips of neighbouring outputs of a line, of one slice of the channels.
struct StripSizes {
  int in_h, in_w, out_h, out_w;
  int stride_y, pad_y, pad_x;
  int pixel, row, y_pixel, y_row;  // steps in elements, of rows fewer than 2^31 in an image
  long long image, y_image;
  int channels, slice_channels;
  int tile_strips, tile_rows;
  Divider groups;  // of 8 channels in a slice
  Divider strips;  // tile_strips
  Divider slices, tiles_x, tiles_y;
  int aligned, y_aligned;  // pixels begin at multiples of 16 bytes, if the image does
};

}  // namespace trine
