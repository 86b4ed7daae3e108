#include "codegen/cuda/packs.h"

#include <algorithm>

namespace trine::codegen {
namespace {

void collect(const BoundLoops& loops, const Block& block, std::vector<MemoryAccess>& found) {
  auto add = [&](int access, bool scattered) {
    if (loops.operand_of(access).kind == Operand::Kind::scratch) return;
    const bool known = std::any_of(found.begin(), found.end(), [&](const auto& f) { return f.access == access; });
    if (!known) found.push_back({access, scattered});
  };
  for (const Step& s : block) {
    if (s.kind == Step::Kind::store) add(s.access, false);
    if (s.kind == Step::Kind::compute && s.access < 0 && loops.inst(s.inst).kind == InstKind::load) {
      const Inst& i = loops.inst(s.inst);
      add(i.access, i.a >= 0 || i.b >= 0);
    }
    collect(loops, s.body, found);
  }
}

int bytes_of(const BoundLoops& loops, int access) {
  return static_cast<int>(byte_size(loops.operand_of(access).dtype));
}

// Does every pack along `loop` start at a multiple of `width`?
bool starts_at_multiples(const BoundLoops& loops, int access, int loop, int64_t width) {
  if (loops.offset(access) % width != 0) return false;
  for (int l = 0; l < loops.loop_count(); ++l)
    if (l != loop && loops.stride(access, l) % width != 0) return false;
  return true;
}

}  // namespace

std::vector<MemoryAccess> memory_accesses(const BoundLoops& loops, const Block& block) {
  std::vector<MemoryAccess> found;
  collect(loops, block, found);
  return found;
}

int unit_strides(const BoundLoops& loops, const std::vector<MemoryAccess>& accesses, int loop) {
  if (loop < 0) return 0;
  return static_cast<int>(std::count_if(accesses.begin(), accesses.end(),
                                        [&](const MemoryAccess& a) { return loops.stride(a.access, loop) == 1; }));
}

int pack_width(const BoundLoops& loops, const std::vector<MemoryAccess>& accesses, int loop, int bytes) {
  if (loop < 0) return 1;
  int good = 0, bad = 0, smallest = 8;
  for (const MemoryAccess& a : accesses) {
    const int64_t stride = loops.stride(a.access, loop);
    if (stride == 0) continue;
    if (stride != 1 || a.scattered) {
      ++bad;
      continue;
    }
    ++good;
    smallest = std::min(smallest, bytes_of(loops, a.access));
  }
  if (good == 0 || bad > good) return 1;
  int width = std::min(bytes / smallest, bytes > 16 || smallest == 1 ? 16 : 8);
  auto fits = [&](const MemoryAccess& a) {
    return loops.stride(a.access, loop) != 1 || a.scattered || starts_at_multiples(loops, a.access, loop, width);
  };
  while (width > 1 && (width > loops.extent(loop) || !std::all_of(accesses.begin(), accesses.end(), fits))) width /= 2;
  return width;
}

int occurrences(const Block& block, int loop) {
  int count = 0;
  for (const Step& s : block) count += (s.kind == Step::Kind::loop && s.loop == loop) + occurrences(s.body, loop);
  return count;
}

}  // namespace trine::codegen
