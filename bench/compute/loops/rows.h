// The loops, one file each.
#pragma once

#include "loops.h"

namespace trine::bench_compute {

void matmul(const Work& work);
void mandelbrot(const Work& work);
void nbody(const Work& work);
void reduction(const Work& work);
void vector_add(const Work& work);

}  // namespace trine::bench_compute
