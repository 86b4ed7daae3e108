#include <omp.h>

#include "rows.h"

namespace trine::bench_compute {
namespace {

constexpr LoopRow kRows[] = {{"black_scholes", black_scholes},
                             {"fft", fft},
                             {"filters", filters},
                             {"heat", heat},
                             {"histogram", histogram},
                             {"lennard_jones", lennard_jones},
                             {"mandelbrot", mandelbrot},
                             {"matmul", matmul},
                             {"monte_carlo", monte_carlo},
                             {"navier_stokes", navier_stokes},
                             {"nbody", nbody},
                             {"path_tracer", path_tracer},
                             {"radix_sort", radix_sort},
                             {"rasteriser", rasteriser},
                             {"reduction", reduction},
                             {"scan", scan},
                             {"vector_add", vector_add}};

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__ ", " TRINE_LOOP_FLAGS;
#else
constexpr const char* kCompiler = "g++ " __VERSION__ ", " TRINE_LOOP_FLAGS;
#endif

}  // namespace

extern "C" __attribute__((visibility("default"))) const LoopTable trine_bench_loops = {
    kRows, sizeof kRows / sizeof *kRows, kCompiler, [](int threads) { omp_set_num_threads(threads); }};

}  // namespace trine::bench_compute
