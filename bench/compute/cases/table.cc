#include "cases.h"

namespace trine::bench_compute {

constexpr CaseRow kRows[] = {{"vector_add", vector_add},
                             {"matmul", matmul},
                             {"reduction", reduction},
                             {"nbody", nbody},
                             {"mandelbrot", mandelbrot}};

std::span<const CaseRow> case_rows() { return kRows; }

}  // namespace trine::bench_compute
