// Everything that inline PTX becomes on the CPU; see types.h.
#pragma once

#include "types.h"
//
#include "arithmetic.h"
#include "barrier.h"
#include "bits.h"
#include "convert.h"
#include "matrix.h"
#include "memory.h"
#include "warp.h"
