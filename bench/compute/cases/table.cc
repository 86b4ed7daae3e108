#include "cases.h"

namespace trine::bench_compute {

constexpr CaseRow kRows[] = {{"vector_add", vector_add},
                             {"matmul", matmul},
                             {"reduction", reduction},
                             {"scan", scan},
                             {"histogram", histogram},
                             {"nbody", nbody},
                             {"lennard_jones", lennard_jones},
                             {"black_scholes", black_scholes},
                             {"monte_carlo", monte_carlo},
                             {"filters", filters},
                             {"heat", heat},
                             {"navier_stokes", navier_stokes},
                             {"mandelbrot", mandelbrot},
                             {"path_tracer", path_tracer},
                             {"rasteriser", rasteriser},
                             {"fft", fft},
                             {"radix_sort", radix_sort}};

std::span<const CaseRow> case_rows() { return kRows; }

}  // namespace trine::bench_compute
