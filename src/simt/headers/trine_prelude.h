// What every kernel sees without an #include. Includes nothing of the system.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __TRINE__ 1

#include "cuda_runtime_templates.h"
#include "device_launch_parameters.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"
//
#include "device_atomic_functions.h"
#include "device_float_intrinsics.h"
#include "device_integer_functions.h"
#include "device_runtime_functions.h"
#include "device_simd_functions.h"
#include "surface_indirect_functions.h"
#include "texture_indirect_functions.h"
#include "trine_math.h"
#include "warp_functions.h"
