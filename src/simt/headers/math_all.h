// The device math library, in namespace trine_math: one header for all.
#pragma once

#include "math_arc.h"
#include "math_bessel.h"
#include "math_convert.h"
#include "math_erf.h"
#include "math_erfinv.h"
#include "math_fast.h"
#include "math_gamma.h"
#include "math_hyperbolic_double.h"
#include "math_hyperbolic_float.h"
#include "math_remainder.h"
#include "math_root.h"
#include "math_trig_double.h"
#include "math_trig_float.h"
