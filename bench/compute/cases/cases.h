// The cases, one file each; NAME is that of the example.
#pragma once

#include <fmt/format.h>

#include "case.h"

namespace trine::bench_compute {

Case matmul(std::mt19937& random, Sizes sizes);
Case mandelbrot(std::mt19937& random, Sizes sizes);
Case nbody(std::mt19937& random, Sizes sizes);
Case reduction(std::mt19937& random, Sizes sizes);
Case vector_add(std::mt19937& random, Sizes sizes);

}  // namespace trine::bench_compute
