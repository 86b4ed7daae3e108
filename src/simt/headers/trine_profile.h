// What Trine's profiler takes beyond NVTX. Programs that are built elsewhere too ask __has_include(<trine_profile.h>).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Each launch of this thread moves so many bytes and does so many operations, until the next call; 0, 0: not known.
void trineProfileWork(double bytes, double flops);

#ifdef __cplusplus
}
#endif
