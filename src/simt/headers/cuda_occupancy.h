// Included by libraries that use nothing of it: questions of occupancy are the runtime API's here.
#pragma once
#include "cuda_runtime_api.h"
