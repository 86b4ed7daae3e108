// Order of the output's loops, and collapsing.
#include <algorithm>

#include "codegen/schedule.h"

namespace trine::codegen {
namespace {

// Walks everything below `id`; folds that do not depend on a loop bound around them are outer ones.
class FoldFinder {
 public:
  explicit FoldFinder(Draft& draft) : draft_(draft), seen_(draft.kernel.insts.size()) {}

  void walk(int id, LoopSet bound) {
    if (id < 0) return;
    const Inst& i = draft_.inst(id);
    // What was met under other bindings must be met again: it may be an outer fold here and an inner one there.
    auto& seen = seen_[static_cast<size_t>(id)];
    const LoopSet matters = bound & i.deps;
    if (std::find(seen.begin(), seen.end(), matters) != seen.end()) return;
    seen.push_back(matters);
    if (i.kind == InstKind::reduce) {
      add(draft_.folds, id);
      if (matters == 0) add(draft_.outer_folds, id);
      for (int l : i.loops) bound |= loop_bit(l);
    }
    const int a = i.a, b = i.b, c = i.c;
    walk(a, bound);
    walk(b, bound);
    walk(c, bound);
  }

 private:
  static void add(std::vector<int>& list, int id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  }

  Draft& draft_;
  std::vector<std::vector<LoopSet>> seen_;
};

bool is_prefix(const std::vector<int>& nest, LoopSet loops) {
  size_t i = 0;
  for (; i < nest.size() && (loops & loop_bit(nest[i])); ++i) loops &= ~loop_bit(nest[i]);
  return loops == 0;
}

int count_of(LoopSet loops) { return __builtin_popcount(loops); }

}  // namespace

std::vector<int> reachable(const LoopKernel& kernel, int root) {
  std::vector<int> order;
  std::vector<char> seen(kernel.insts.size());
  std::vector<int> stack{root};
  while (!stack.empty()) {
    const int id = stack.back();
    stack.pop_back();
    if (id < 0 || seen[static_cast<size_t>(id)]) continue;
    seen[static_cast<size_t>(id)] = 1;
    order.push_back(id);
    const Inst& i = kernel.insts[static_cast<size_t>(id)];
    if (i.kind == InstKind::reduce) continue;
    for (int v : {i.c, i.b, i.a}) stack.push_back(v);
  }
  return order;
}

void order_loops(Draft& draft) {
  FoldFinder finder(draft);
  LoopSet all = 0;
  for (int l : draft.kernel.nest) all |= loop_bit(l);
  for (const Store& s : draft.stores) finder.walk(s.inst, 0);

  std::vector<LoopSet> prefixes;  // sets of loops that must stand outside all others
  for (int f : draft.outer_folds) prefixes.push_back(draft.inst(f).deps);
  for (const Store& s : draft.stores) prefixes.push_back(s.loops);
  auto uses = [&](int loop) {
    return std::count_if(prefixes.begin(), prefixes.end(), [&](LoopSet p) { return (p & loop_bit(loop)) != 0; });
  };
  std::stable_sort(draft.kernel.nest.begin(), draft.kernel.nest.end(), [&](int a, int b) { return uses(a) > uses(b); });

  draft.kernel.parallel = static_cast<int>(draft.kernel.nest.size());
  for (LoopSet p : prefixes) {
    if ((p & ~all) || !is_prefix(draft.kernel.nest, p)) {
      throw Refusal{"folds (or outputs) over different axes would be recomputed inside one another"};
    }
    draft.group_ends.push_back(count_of(p));
    draft.kernel.parallel = std::min(draft.kernel.parallel, count_of(p));
  }
  draft.group_ends.push_back(static_cast<int>(draft.kernel.nest.size()));
  std::sort(draft.group_ends.begin(), draft.group_ends.end());
  draft.group_ends.erase(std::unique(draft.group_ends.begin(), draft.group_ends.end()), draft.group_ends.end());
}

namespace {

class Collapser {
 public:
  explicit Collapser(Draft& draft) : draft_(draft) {
    for (const Store& s : draft.stores) {
      used_.push_back(s.access);
      for (int id : reachable(draft.kernel, s.inst)) use(id);
    }
    for (int f : draft.folds) {
      for (int id : reachable(draft.kernel, draft.inst(f).a)) use(id);
    }
  }

  void run() {
    auto& nest = draft_.kernel.nest;
    for (int i = static_cast<int>(nest.size()) - 2; i >= 0; --i) {
      if (is_end(i + 1)) continue;
      const int a = nest[static_cast<size_t>(i)], b = nest[static_cast<size_t>(i) + 1];
      if (can_merge(a, b)) merge(a, b);
    }
    for (int f : draft_.folds) {
      for (int i = static_cast<int>(draft_.inst(f).loops.size()) - 2; i >= 0; --i) {
        const auto& loops = draft_.inst(f).loops;
        const int a = loops[static_cast<size_t>(i)], b = loops[static_cast<size_t>(i) + 1];
        if (!in_nest(a) && !in_nest(b) && can_merge(a, b)) merge(a, b);
      }
    }
  }

 private:
  void use(int id) {
    if (draft_.inst(id).access >= 0) used_.push_back(draft_.inst(id).access);
  }
  bool is_end(int position) const {
    return std::find(draft_.group_ends.begin(), draft_.group_ends.end(), position) != draft_.group_ends.end();
  }
  bool in_nest(int loop) const {
    const auto& nest = draft_.kernel.nest;
    return std::find(nest.begin(), nest.end(), loop) != nest.end();
  }
  Dim& extent(int loop) { return draft_.kernel.extents[static_cast<size_t>(loop)]; }
  Access& access(int id) { return draft_.kernel.accesses[static_cast<size_t>(id)]; }

  bool can_merge(int a, int b) {
    for (int f : draft_.folds) {
      const auto& loops = draft_.inst(f).loops;
      const auto at_a = std::find(loops.begin(), loops.end(), a), at_b = std::find(loops.begin(), loops.end(), b);
      if ((at_a == loops.end()) != (at_b == loops.end())) return false;
      if (at_a != loops.end() && at_a + 1 != at_b) return false;
    }
    return std::all_of(used_.begin(), used_.end(), [&](int id) {
      const auto& s = access(id).strides;
      return s[static_cast<size_t>(a)] == s[static_cast<size_t>(b)] * extent(b);
    });
  }

  // Loop b takes over a's iterations; a is gone.
  void merge(int a, int b) {
    extent(b) = extent(a) * extent(b);
    extent(a) = Dim(1);
    for (int id : used_) access(id).strides[static_cast<size_t>(a)] = Dim(0);
    for (Inst& i : draft_.kernel.insts) {
      if (i.deps & loop_bit(a)) i.deps = (i.deps & ~loop_bit(a)) | loop_bit(b);
      std::erase(i.loops, a);
    }
    for (Store& s : draft_.stores) s.loops &= ~loop_bit(a);
    auto& nest = draft_.kernel.nest;
    const auto at = std::find(nest.begin(), nest.end(), a);
    if (at == nest.end()) return;
    const int position = static_cast<int>(at - nest.begin());
    nest.erase(at);
    for (int& end : draft_.group_ends) end -= end > position;
    draft_.kernel.parallel -= draft_.kernel.parallel > position;
  }

  Draft& draft_;
  std::vector<int> used_;
};

}  // namespace

void collapse_loops(Draft& draft) { Collapser(draft).run(); }

}  // namespace trine::codegen
