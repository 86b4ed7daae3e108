// What a texture or surface object is on the CPU: the address of a TextureView, which the host makes and kernels read.
#pragma once

namespace trine_texture {

// How a channel in memory becomes a number.
enum Decode : int {
  kFloat32,
  kFloat16,
  kUnsigned8Norm,
  kSigned8Norm,
  kUnsigned16Norm,
  kSigned16Norm,
  kSrgb8,  // the fourth channel is not coded
  kUnsigned8,
  kSigned8,
  kUnsigned16,
  kSigned16,
  kInteger32,
};

enum Address : int { kWrap, kClamp, kMirror, kBorder };  // as cudaTextureAddressMode

// Texels in rows. Offsets within a level are below 2^31, so that 32-bit arithmetic reaches every texel.
struct Level {
  char* texels;
  int width, height, depth;    // 1 where there is no such dimension
  int row_bytes, slice_bytes;  // from row to row; from slice, layer or face to the next
};

constexpr int kMostLevels = 18;

struct TextureView {
  int decode;
  int texel_bytes;
  int channels;
  int offset_y, offset_z, offset_w;  // of channels in a texel; 0, where the first is, for those it lacks
  int layers;                        // of what is layered; of cubes, layers and faces
  int linear;
  int normalized;        // coordinates from 0 to 1
  int address[3];        // wrap and mirror only with normalised coordinates
  int levels;            // that mipmaps have
  int mip_linear;        // levels are blended
  int first_level;       // without a level of detail, and
  float first_fraction;  // how much of the level behind it
  float bias, lowest, highest;
  float border[4];
  int border_words[4];
  const float* srgb;  // 256 numbers
  Level level[kMostLevels];
};

}  // namespace trine_texture
