// Places every instruction in the outermost block that knows all loops it depends on.
#include <algorithm>
#include <unordered_set>

#include "codegen/schedule.h"

namespace trine::codegen {
namespace {

class NestBuilder {
 public:
  explicit NestBuilder(Draft& draft) : draft_(draft), k_(draft.kernel), keep_(values_to_keep(draft)) {}

  Block build() {
    path_.emplace_back();
    for (int l : k_.nest) open(l);
    std::vector<int> folds = draft_.outer_folds;
    std::sort(folds.begin(), folds.end());  // in the order they were made, and before what may read their rows back
    for (int f : folds) emit(f);
    for (const Store& s : draft_.stores) {
      emit(s.inst);
      Step step{.kind = Step::Kind::store, .inst = s.inst, .access = s.access, .body = {}};
      path_[level_of(s.loops | draft_.inst(s.inst).deps)].stores.push_back(std::move(step));
    }
    while (path_.size() > 1) close();
    finish(path_[0]);
    return std::move(path_[0].block);
  }

 private:
  struct Level {
    int loop = -1;
    Block block;
    Block stores;  // after everything that the block computes
    std::unordered_set<int> known;
  };

  void open(int loop) {
    const LoopSet vector = k_.vector_loops & loop_bit(loop);
    for (const Level& l : path_) {
      if (vector && l.loop >= 0 && (k_.vector_loops & loop_bit(l.loop))) throw Refusal{"two vector loops on one path"};
    }
    path_.emplace_back().loop = loop;
  }

  static void finish(Level& level) {
    for (Step& s : level.stores) level.block.push_back(std::move(s));
    level.stores.clear();
  }

  // The innermost loop goes behind what its parent computes.
  void close() {
    Level inner = std::move(path_.back());
    path_.pop_back();
    finish(inner);
    Level& parent = path_.back();
    finish(parent);
    if (inner.block.empty()) return;
    parent.block.push_back({.kind = Step::Kind::loop, .loop = inner.loop, .body = std::move(inner.block)});
  }

  size_t level_of(LoopSet deps) const {
    for (size_t i = 0; i < path_.size(); ++i) {
      if (path_[i].loop >= 0) deps &= ~loop_bit(path_[i].loop);
      if (deps == 0) return i;
    }
    throw Refusal{"a value depends on a loop that is not around it"};
  }

  void emit(int id) {
    if (id < 0) return;
    for (const Level& l : path_) {
      if (l.known.contains(id)) return;
    }
    const Inst& i = draft_.inst(id);
    const size_t level = level_of(i.deps);
    if (i.kind == InstKind::reduce) {
      emit_fold(id, level);
    } else if (auto row = rows_.find(id); row != rows_.end()) {
      path_[level].block.push_back({.kind = Step::Kind::compute, .inst = id, .access = row->second, .body = {}});
    } else {
      emit(i.a);
      emit(i.b);
      emit(i.c);
      path_[level].block.push_back({.kind = Step::Kind::compute, .inst = id, .body = {}});
      if (folds_open_ == 1 && keep_.contains(id)) keep(id, level);
    }
    path_[level].known.insert(id);
  }

  // Stores the value to a row buffer; whoever needs it after this fold reads it from there.
  void keep(int id, size_t level) {
    Access access;
    access.operand = static_cast<int>(k_.operands.size());
    access.strides.resize(k_.extents.size());
    Dim size(1);
    const auto& loops = keep_.at(id);
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
      access.strides[static_cast<size_t>(*l)] = size;
      size = size * k_.extents[static_cast<size_t>(*l)];
    }
    k_.operands.push_back(
        {.kind = Operand::Kind::scratch, .index = id, .dtype = draft_.inst(id).type, .constant = {}, .elements = size});
    const int number = static_cast<int>(k_.accesses.size());
    k_.accesses.push_back(std::move(access));
    path_[level].block.push_back({.kind = Step::Kind::store, .inst = id, .access = number, .body = {}});
    pending_.emplace_back(id, number);
  }

  void emit_fold(int id, size_t level) {
    std::vector<Level> inner;  // the path below `level` waits
    while (path_.size() > level + 1) {
      inner.push_back(std::move(path_.back()));
      path_.pop_back();
    }
    const std::vector<int> loops = draft_.inst(id).loops;
    ++folds_open_;
    for (int l : loops) open(l);
    emit(draft_.inst(id).a);
    path_.back().block.push_back({.kind = Step::Kind::fold, .inst = id, .body = {}});
    // The fold's own nest is collected apart, to hang it into a reduce step.
    Block body;
    for (size_t n = loops.size(); n-- > 0;) {
      Level l = std::move(path_.back());
      path_.pop_back();
      for (Step& s : body) l.block.push_back(std::move(s));
      body.clear();
      body.push_back({.kind = Step::Kind::loop, .loop = l.loop, .body = std::move(l.block)});
    }
    path_.back().block.push_back({.kind = Step::Kind::reduce, .inst = id, .body = std::move(body)});
    for (; !inner.empty(); inner.pop_back()) path_.push_back(std::move(inner.back()));
    if (--folds_open_ > 0) return;
    for (const auto& [value, access] : pending_) rows_.emplace(value, access);
    pending_.clear();
  }

  Draft& draft_;
  LoopKernel& k_;
  const std::map<int, std::vector<int>> keep_;
  std::map<int, int> rows_;                   // kept values that a finished fold has stored, with their access
  std::vector<std::pair<int, int>> pending_;  // stored by the fold that is being built
  int folds_open_ = 0;
  std::vector<Level> path_;
};

}  // namespace

void build_nest(Draft& draft) { draft.kernel.body = NestBuilder(draft).build(); }

}  // namespace trine::codegen
