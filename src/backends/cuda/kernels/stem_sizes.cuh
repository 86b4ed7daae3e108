// What conv_stem.cu is told by value, for it and for the host that fills it in: a convolution of few channels of 2
// bytes. A line of the window is `lead` unused halves, then its pixels' channels, side by side as in memory.
#pragma once

#include "divider.cuh"

namespace trine {

struct StemSizes {
  int in_h, in_row;  // halves of a row of the image
  int out_h, out_w;
  int step_x, step_y;          // halves, rows from one output to the next one
  int start_x, start_y;        // where the first output's window begins, its lead included
  int dilation_y, lead, line;  // line: halves of one, without lead
  int tile_h, tile_w, tiles;   // outputs of a block's turn; turns of all blocks
  Divider tile_columns, tiles_x, tiles_y;
  int staged_rows, chunks;  // of 16 bytes in a staged row
  int odd;                  // windows begin at odd halves, too: a copy moved by one half is kept for these
  int whole;                // rows begin at multiples of 16 bytes, if x does
  int columns, column_warps;
  int y_row, y_aligned;
};

}  // namespace trine
