// Vectors of 32-bit integers and of what narrower types widen to, beside the floats of simd.h; kWidth lanes all.
#pragma once

#if defined(__AVX512F__)
#include "backends/cpu/kernels/simd/narrow_avx512.h"
#elif defined(__AVX2__)
#include "backends/cpu/kernels/simd/narrow_avx2.h"
#else
#include "backends/cpu/kernels/simd/narrow_baseline.h"
#endif
