// The loops, one file each.
#pragma once

#include "loops.h"

namespace trine::bench_compute {

void black_scholes(const Work& work);
void fft(const Work& work);
void filters(const Work& work);
void heat(const Work& work);
void histogram(const Work& work);
void lennard_jones(const Work& work);
void mandelbrot(const Work& work);
void matmul(const Work& work);
void monte_carlo(const Work& work);
void navier_stokes(const Work& work);
void nbody(const Work& work);
void path_tracer(const Work& work);
void radix_sort(const Work& work);
void rasteriser(const Work& work);
void reduction(const Work& work);
void scan(const Work& work);
void vector_add(const Work& work);

}  // namespace trine::bench_compute
