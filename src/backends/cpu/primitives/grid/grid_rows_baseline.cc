#include "backends/cpu/primitives/grid/grid_rows_kernel.h"

namespace trine::cpu {

const GridIsa kGridBaseline = {add_scaled, dot};

}  // namespace trine::cpu
