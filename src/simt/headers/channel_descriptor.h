// cudaCreateChannelDesc<float4>() and its like.
#pragma once

#define __CHANNEL_DESCRIPTOR_H__  // libraries ask for it

#include "cuda_runtime_api.h"

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define __TRINE_CHANNEL__(type, bits, y, z, w, kind)                                                     \
  template <>                                                                                            \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {                                           \
    return cudaCreateChannelDesc(bits, (y) * bits, (z) * bits, (w) * bits, cudaChannelFormatKind##kind); \
  }
#define __TRINE_CHANNELS__(name, type, bits, kind) \
  __TRINE_CHANNEL__(type, bits, 0, 0, 0, kind)     \
  __TRINE_CHANNEL__(name##1, bits, 0, 0, 0, kind)  \
  __TRINE_CHANNEL__(name##2, bits, 1, 0, 0, kind)  \
  __TRINE_CHANNEL__(name##4, bits, 1, 1, 1, kind)
__TRINE_CHANNELS__(char, signed char, 8, Signed)
__TRINE_CHANNELS__(uchar, unsigned char, 8, Unsigned)
__TRINE_CHANNELS__(short, short, 16, Signed)
__TRINE_CHANNELS__(ushort, unsigned short, 16, Unsigned)
__TRINE_CHANNELS__(int, int, 32, Signed)
__TRINE_CHANNELS__(uint, unsigned int, 32, Unsigned)
__TRINE_CHANNELS__(float, float, 32, Float)
__TRINE_CHANNEL__(char, 8, 0, 0, 0, Signed)
#undef __TRINE_CHANNELS__
#undef __TRINE_CHANNEL__

inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}
