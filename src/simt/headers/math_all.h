// The device math library, in namespace trine_math: one header for all.
#pragma once

#include "math_convert.h"
#include "math_erf_float.h"
#include "math_hyperbolic_float.h"
#include "math_pow_float.h"
#include "math_remainder.h"
#include "math_trig_float.h"
