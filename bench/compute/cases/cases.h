// The cases, one file each; the name is that of the example.
#pragma once

#include <fmt/format.h>

#include "case.h"

namespace trine::bench_compute {

Case black_scholes(std::mt19937& random, Sizes sizes);
Case fft(std::mt19937& random, Sizes sizes);
Case filters(std::mt19937& random, Sizes sizes);
Case heat(std::mt19937& random, Sizes sizes);
Case histogram(std::mt19937& random, Sizes sizes);
Case lennard_jones(std::mt19937& random, Sizes sizes);
Case mandelbrot(std::mt19937& random, Sizes sizes);
Case matmul(std::mt19937& random, Sizes sizes);
Case monte_carlo(std::mt19937& random, Sizes sizes);
Case navier_stokes(std::mt19937& random, Sizes sizes);
Case nbody(std::mt19937& random, Sizes sizes);
Case path_tracer(std::mt19937& random, Sizes sizes);
Case radix_sort(std::mt19937& random, Sizes sizes);
Case rasteriser(std::mt19937& random, Sizes sizes);
Case reduction(std::mt19937& random, Sizes sizes);
Case scan(std::mt19937& random, Sizes sizes);
Case vector_add(std::mt19937& random, Sizes sizes);

}  // namespace trine::bench_compute
