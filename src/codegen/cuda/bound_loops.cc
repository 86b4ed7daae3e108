#include "codegen/cuda/bound_loops.h"

#include <algorithm>
#include <cstdlib>

#include "base/checked.h"

namespace trine::codegen {

bool has_folds(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Step& s) { return s.kind == Step::Kind::reduce; });
}

const Step* loop_of(const Block& block) {
  const auto it = std::find_if(block.begin(), block.end(), [](const Step& s) { return s.kind == Step::Kind::loop; });
  return it == block.end() ? nullptr : &*it;
}

BoundLoops::BoundLoops(const LoopKernel& kernel, const Bindings& bindings)
    : kernel_(&kernel), numbers_(numbers_of(kernel, bindings)) {
  find_path();
}

void BoundLoops::find_path() {
  path_ = {&kernel_->body};
  for (size_t depth = 0; depth < kernel_->nest.size(); ++depth) {
    const Step* loop = loop_of(*path_.back());
    if (!loop) break;
    // Inner loops are as parallel as the outer ones when nothing is folded for all of them together.
    if (static_cast<int>(depth) >= kernel_->parallel && (has_folds(*path_.back()) || extent(loop->loop) == 0)) break;
    path_loops_.push_back(loop->loop);
    path_.push_back(&loop->body);
    points_ = checked_mul(points_, extent(loop->loop));
    if (extent(loop->loop) > 1) parallel_.push_back(loop->loop);
  }
}

bool BoundLoops::has_row_folds() const { return has_folds(row()); }

bool BoundLoops::fits_32_bits() const {
  constexpr int64_t kLimit = int64_t{1} << 30;  // room for what a thread adds behind the end
  auto many = [&](const std::vector<int>& loops) {
    double count = 1;
    for (int l : loops) count *= static_cast<double>(extent(l));
    return count >= static_cast<double>(kLimit);
  };
  if (many(kernel_->nest)) return false;
  for (const Inst& i : kernel_->insts)
    if (i.kind == InstKind::reduce && many(i.loops)) return false;
  for (size_t a = 0; a < kernel_->accesses.size(); ++a) {
    const int id = static_cast<int>(a);
    double reach = std::abs(static_cast<double>(offset(id)));
    for (int l = 0; l < loop_count(); ++l)
      reach += std::abs(static_cast<double>(stride(id, l))) * static_cast<double>(extent(l));
    if (reach >= static_cast<double>(kLimit)) return false;
  }
  return true;
}

}  // namespace trine::codegen
