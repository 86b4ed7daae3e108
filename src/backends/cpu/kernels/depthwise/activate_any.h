// Any activation of one vector; apart, so that finishing stays small.
#pragma once

#include "backends/cpu/kernels/gemm/tile.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

[[gnu::noinline]] V activate_any(const TileEpilogue& e, V x) { return activate(e.activation, x, e.alpha, e.beta); }

}  // namespace
}  // namespace trine::cpu
