// What programs expect of <cuda_runtime.h>: the runtime API, everything of the device, and the headers of the C library
// that CUDA's own brings along, where the system has them.
#pragma once

#define __CUDA_RUNTIME_H__  // libraries ask for it

#if __has_include(<stdlib.h>)
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif
#ifdef __cplusplus
#if __has_include(<cmath>)
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>
#endif
#endif

#include "cuda_device_runtime_api.h"
#include "cuda_runtime_api.h"
#ifdef __CUDA__
#include "device_launch_parameters.h"
#endif
#include "vector_functions.h"
#ifdef __cplusplus
#include "channel_descriptor.h"
#include "cuda_runtime_templates.h"
#endif
