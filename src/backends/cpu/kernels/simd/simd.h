// The vectors of the instruction set that this file is compiled for (see simd_baseline.h for what they can do).
#pragma once

#if defined(__AVX512F__)
#include "backends/cpu/kernels/simd/simd_avx512.h"
#elif defined(__AVX2__)
#include "backends/cpu/kernels/simd/simd_avx2.h"
#else
#include "backends/cpu/kernels/simd/simd_baseline.h"
#endif
