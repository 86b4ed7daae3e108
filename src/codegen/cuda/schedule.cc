#include "codegen/cuda/schedule.h"

namespace trine::codegen {

ThreadSchedule schedule_threads(const BoundLoops& loops, const RenderTarget&) {
  ThreadSchedule s;
  s.order.assign(loops.parallel().rbegin(), loops.parallel().rend());
  s.wide_index = !loops.fits_32_bits();
  return s;
}

}  // namespace trine::codegen
