// Chooses the loops that run as vectors, by counting what each choice costs.
#include <algorithm>

#include "codegen/schedule.h"

namespace trine::codegen {
namespace {

constexpr double kLanes = 16;
constexpr double kUnknownExtent = 64;
constexpr double kStridedCost = 0.7;  // of one element of an access that is no vector access

class VectorChooser {
 public:
  explicit VectorChooser(Draft& draft) : draft_(draft), k_(draft.kernel) {}

  void run() {
    std::vector<int> candidates = k_.nest;
    std::reverse(candidates.begin(), candidates.end());  // on a tie the inner one
    candidates.push_back(-1);
    double best = -1;
    int best_loop = -1;
    for (int v : candidates) {
      const double cost = total_cost(v);
      if (best < 0 || cost < best * 0.999) best = cost, best_loop = v;
    }
    apply(best_loop);
  }

 private:
  double extent(int loop) const {
    const Dim& e = k_.extents[static_cast<size_t>(loop)];
    return e.is_constant() ? static_cast<double>(std::max<int64_t>(e.value(), 1)) : kUnknownExtent;
  }

  double iterations(LoopSet loops) const {
    double n = 1;
    for (int l = 0; l < static_cast<int>(k_.extents.size()); ++l) {
      if (loops & loop_bit(l)) n *= extent(l);
    }
    return n;
  }

  double access_cost(int access, int v, double n) const {
    const Dim& stride = k_.accesses[static_cast<size_t>(access)].strides[static_cast<size_t>(v)];
    return stride == Dim(0) || stride == Dim(1) ? 0 : n * kStridedCost;
  }

  // Everything computed once per element of `loops`, with loop v (-1: none) as vector.
  double section_cost(const std::vector<int>& insts, LoopSet loops, LoopSet must, int v) const {
    const double n = iterations(loops);
    const double lanes = v < 0 ? 1 : std::min(extent(v), kLanes);
    double cost = 0;
    for (int id : insts) {
      const Inst& i = draft_.inst(id);
      if (!(i.deps & must) || i.kind == InstKind::reduce) continue;
      cost += n / lanes;
      if (i.kind == InstKind::load && v >= 0) {
        const bool gathers = i.a >= 0 && (draft_.inst(i.a).deps & loop_bit(v));
        cost += gathers ? n * kStridedCost : access_cost(i.access, v, n);
      }
    }
    return cost + n / lanes;
  }

  double fold_cost(int f, int v) const {
    const Inst& i = draft_.inst(f);
    LoopSet own = 0;
    for (int l : i.loops) own |= loop_bit(l);
    return section_cost(reachable(k_, i.a), draft_.inst(i.a).deps | own, own, v);
  }

  // The fold's best own vector loop when `outer` runs around it or not.
  std::pair<double, int> best_of_fold(int f, int outer) const {
    if (outer >= 0 && (draft_.inst(f).deps & loop_bit(outer))) return {fold_cost(f, outer), -1};
    const auto& loops = draft_.inst(f).loops;
    std::pair<double, int> best{-1, -1};
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
      const double cost = fold_cost(f, *l);
      if (best.first < 0 || cost < best.first * 0.999) best = {cost, *l};
    }
    return best;
  }

  double total_cost(int v) const {
    double cost = 0;
    for (const Store& s : draft_.stores) {
      cost += section_cost(reachable(k_, s.inst), s.loops, ~LoopSet{0}, s.loops & loop_of(v) ? v : -1);
      if (s.loops & loop_of(v)) cost += access_cost(s.access, v, iterations(s.loops));
    }
    for (int f : draft_.outer_folds) cost += best_of_fold(f, v).first;
    return cost;
  }

  static LoopSet loop_of(int v) { return v < 0 ? 0 : loop_bit(v); }

  void apply(int v) {
    k_.vector_loops = loop_of(v);
    for (int f : draft_.outer_folds) {
      const int own = best_of_fold(f, v).second;
      if (own >= 0) k_.vector_loops |= loop_bit(own);
    }
    if (v >= 0) move_to_group_end(v);
    for (int f : draft_.folds) {
      auto& loops = draft_.inst(f).loops;
      std::stable_sort(loops.begin(), loops.end(), [&](int a, int b) { return is_vector(a) < is_vector(b); });
    }
  }

  bool is_vector(int loop) const { return (k_.vector_loops & loop_bit(loop)) != 0; }

  void move_to_group_end(int v) {
    const auto at = std::find(k_.nest.begin(), k_.nest.end(), v);
    const auto position = static_cast<int>(at - k_.nest.begin());
    for (int end : draft_.group_ends) {
      if (end > position) {
        std::rotate(at, at + 1, k_.nest.begin() + end);
        return;
      }
    }
  }

  Draft& draft_;
  LoopKernel& k_;
};

}  // namespace

void choose_vectors(Draft& draft) { VectorChooser(draft).run(); }

}  // namespace trine::codegen
