// Which values a row buffer saves from being computed twice: those that a fold and something after it (another fold or
// the output) both compute over the same box, and that cost more than a store and a load. Softmax's e^(x - m) is one.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/schedule.h"

namespace trine::codegen {
namespace {

constexpr double kWorthKeeping = 5;  // in the units of `own_cost`; a store and a load are about 2

struct Section {
  int root;
  std::vector<int> loops;  // the box
  std::unordered_set<int> values;
};

double own_cost(const Inst& i) {
  switch (i.kind) {
    case InstKind::constant:
    case InstKind::index:
    case InstKind::reduce: return 0;
    case InstKind::load: return i.a >= 0 || i.b >= 0 ? 4 : 1;
    case InstKind::unary:
      if (i.op >= ScalarOp::exp && i.op <= ScalarOp::erf) return 10;
      return i.op == ScalarOp::sqrt || i.op == ScalarOp::reciprocal ? 4 : 1;
    case InstKind::binary:
      return i.op == ScalarOp::div || i.op == ScalarOp::pow || i.op == ScalarOp::mod || i.op == ScalarOp::fmod ? 4 : 1;
    default: return 1;
  }
}

class RowBuffers {
 public:
  explicit RowBuffers(const Draft& draft) : draft_(draft) {}

  std::map<int, std::vector<int>> run() {
    std::vector<int> folds = draft_.outer_folds;
    std::sort(folds.begin(), folds.end());  // one that another needs was made first
    for (int f : folds) add_section(draft_.inst(f).a, draft_.inst(f).loops);
    std::map<int, std::vector<int>> kept;
    for (size_t s = 0; s < sections_.size(); ++s) {
      add_outputs(std::vector<int>(sections_[s].loops));  // a copy: the list of sections grows
      for (size_t later = s + 1; later < sections_.size(); ++later) {
        if (same_box(sections_[later], sections_[s])) walk(sections_[later].root, s, later, kept);
      }
      sections_.resize(folds.size());
    }
    return kept;
  }

 private:
  void add_section(int root, const std::vector<int>& loops) {
    Section s{root, loops, {}};
    for (int id : reachable(draft_.kernel, root)) s.values.insert(id);
    sections_.push_back(std::move(s));
  }

  // The output's inner loops, when they are this box.
  void add_outputs(const std::vector<int>& loops) {
    const auto& nest = draft_.kernel.nest;
    if (nest.size() < loops.size()) return;
    const std::vector<int> inner(nest.end() - static_cast<std::ptrdiff_t>(loops.size()), nest.end());
    if (!std::is_permutation(inner.begin(), inner.end(), loops.begin())) return;
    for (const Store& s : draft_.stores) add_section(s.inst, loops);
  }

  static bool same_box(const Section& a, const Section& b) {
    return a.loops.size() == b.loops.size() && std::is_permutation(a.loops.begin(), a.loops.end(), b.loops.begin());
  }

  // Finds the topmost values of section `later` that section `s` computes too.
  void walk(int id, size_t s, size_t later, std::map<int, std::vector<int>>& kept) const {
    if (id < 0) return;
    const Inst& i = draft_.inst(id);
    const Section& from = sections_[s];
    if (i.kind == InstKind::reduce) return;
    if (from.values.contains(id) && covers(i, from.loops) && cost(id) >= kWorthKeeping) {
      kept.emplace(id, from.loops);
      return;
    }
    for (int v : {i.a, i.b, i.c}) walk(v, s, later, kept);
  }

  // Does the value vary along every loop of the box, one of them the vector loop?
  bool covers(const Inst& i, const std::vector<int>& loops) const {
    bool vector = false;
    for (int l : loops) {
      if (!(i.deps & loop_bit(l))) return false;
      vector |= (draft_.kernel.vector_loops & loop_bit(l)) != 0;
    }
    return vector && !loops.empty();
  }

  // Of everything under the value that varies along with it.
  double cost(int id) const {
    const LoopSet vector = draft_.inst(id).deps & draft_.kernel.vector_loops;
    double sum = 0;
    for (int v : reachable(draft_.kernel, id)) {
      if (draft_.inst(v).deps & vector) sum += own_cost(draft_.inst(v));
    }
    return sum;
  }

  const Draft& draft_;
  std::vector<Section> sections_;
};

}  // namespace

std::map<int, std::vector<int>> values_to_keep(const Draft& draft) { return RowBuffers(draft).run(); }

}  // namespace trine::codegen
