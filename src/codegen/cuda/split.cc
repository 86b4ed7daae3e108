#include "codegen/cuda/split.h"

#include <algorithm>

#include "codegen/cuda/schedule.h"

namespace trine::codegen {
namespace {

constexpr int64_t kWorthSplitting = 32 << 10;  // elements of a multiprocessor, about 2 us: what more launches cost
constexpr int64_t kShortSlice = 32, kLittleWork = 2 << 10;  // elements of a slice, and of a block in it

// The kernel with its numbers instead of symbols.
LoopKernel with_numbers(const BoundLoops& loops) {
  LoopKernel k = loops.kernel();
  for (size_t l = 0; l < k.extents.size(); ++l) k.extents[l] = Dim(loops.extent(static_cast<int>(l)));
  for (size_t a = 0; a < k.accesses.size(); ++a) {
    const int id = static_cast<int>(a);
    k.accesses[a].offset = Dim(loops.offset(id));
    for (int l = 0; l < loops.loop_count(); ++l)
      k.accesses[a].strides[static_cast<size_t>(l)] = Dim(loops.stride(id, l));
  }
  return k;
}

int add_loop(LoopKernel& k, int64_t extent) {
  k.extents.emplace_back(extent);
  for (Access& a : k.accesses) a.strides.emplace_back(0);
  return static_cast<int>(k.extents.size()) - 1;
}

Block& row_of(LoopKernel& k) {
  Block* block = &k.body;
  for (int depth = 0; depth < k.parallel; ++depth)
    for (Step& s : *block)
      if (s.kind == Step::Kind::loop) {
        block = &s.body;
        break;
      }
  return *block;
}

struct RowFold {
  int inst;
  Chain chain;
};

class Splitter {
 public:
  Splitter(const BoundLoops& loops, int64_t blocks, int multiprocessors)
      : loops_(loops), blocks_(std::max<int64_t>(blocks, 1)), multiprocessors_(multiprocessors) {}

  SplitKernels run() {
    if (!can_split() || !is_worth_it()) return {};
    const bool alone = folds_.size() == 1 && !loop_of(loops_.row());
    for (const RowFold& fold : folds_) {
      const int64_t slices = slices_of(fold);
      if (slices == 1) return {};
      const int partial = place(slices * loops_.points(), fold.inst);
      add_part(fold, slices, partial);
      if (alone) {
        add_joined_finish(fold, slices, partial);
        return std::move(out_);
      }
      finished_.emplace_back(fold.inst, place(loops_.points(), fold.inst));
      add_join(fold, slices, partial);
    }
    add_finish();
    return std::move(out_);
  }

 private:
  bool can_split() {
    const LoopKernel& k = loops_.kernel();
    if (static_cast<int>(loops_.path_loops().size()) != k.parallel || loops_.points() == 0) return false;
    for (const Step& s : loops_.row()) {
      if (s.kind != Step::Kind::reduce) continue;
      if (s.body.empty() || s.body.back().kind != Step::Kind::loop) return false;
      Chain chain = chain_of(loops_, s.body.back());
      const Block& last = *chain.blocks.back();
      if (chain.loops.empty() || last.empty() || last.back().kind != Step::Kind::fold || last.back().inst != s.inst)
        return false;
      folds_.push_back({s.inst, std::move(chain)});
    }
    return !folds_.empty() && k.extents.size() < kMaxLoops;
  }

  int64_t elements_of(const RowFold& fold) const {
    int64_t n = 1;
    for (int l : fold.chain.loops) n *= loops_.extent(l);
    return n;
  }

  bool is_worth_it() const {
    if (blocks_ * 2 > multiprocessors_) return false;
    int64_t longest = 0;
    for (const RowFold& f : folds_) longest = std::max(longest, elements_of(f));
    return longest * loops_.points() / blocks_ > kWorthSplitting;
  }

  // A divisor of the fold's outermost extent, such that slices stay long and start at multiples of 8 where rows do.
  int64_t slices_of(const RowFold& fold) const {
    const int64_t n = loops_.extent(fold.chain.loops.front()), whole = n % 8 == 0 ? n / 8 : n;
    const int64_t wanted = 4 * multiprocessors_ / blocks_;
    const int64_t of_block = elements_of(fold) * loops_.points() / blocks_;
    const int64_t most = std::min({2 * wanted, elements_of(fold) / kShortSlice, of_block / kLittleWork, whole});
    for (int64_t slices = most; slices > 1; --slices)
      if (whole % slices == 0) return slices;
    return 1;
  }

  int place(int64_t elements, int inst) {
    out_.offsets.push_back(out_.workspace_bytes);
    const int64_t bytes = elements * static_cast<int64_t>(byte_size(loops_.inst(inst).type));
    out_.workspace_bytes += (bytes + 255) / 256 * 256;
    return kWorkspaceOperand + static_cast<int>(out_.offsets.size()) - 1;
  }

  // An access to place[slice][point], or place[point] for slice -1.
  int add_access(LoopKernel& k, int place, int inst, Operand::Kind kind, int slice) const {
    Access access;
    access.operand = static_cast<int>(k.operands.size());
    access.strides.resize(k.extents.size());
    int64_t stride = 1;
    for (size_t n = static_cast<size_t>(loops_.kernel().parallel); n-- > 0;) {
      const int l = loops_.kernel().nest[n];
      access.strides[static_cast<size_t>(l)] = Dim(loops_.extent(l) > 1 ? stride : 0);
      stride *= loops_.extent(l);
    }
    if (slice >= 0) access.strides[static_cast<size_t>(slice)] = Dim(stride);
    k.operands.push_back({kind, place, loops_.inst(inst).type, {}, {}});
    k.accesses.push_back(std::move(access));
    return static_cast<int>(k.accesses.size()) - 1;
  }

  // Folds that are finished are loads.
  void use_finished(LoopKernel& k) const {
    for (const auto& [inst, place] : finished_) {
      Inst& i = k.insts[static_cast<size_t>(inst)];
      i = {.kind = InstKind::load, .type = i.type, .loops = {}, .deps = i.deps};
      i.access = add_access(k, place, inst, Operand::Kind::input, -1);
    }
  }

  void add(LoopKernel k) {
    k.hash = k.hash * 31 + out_.kernels.size() + 1;
    out_.kernels.push_back(std::move(k));
  }

  void add_part(const RowFold& fold, int64_t slices, int partial) {
    LoopKernel k = with_numbers(loops_);
    const int f = fold.chain.loops.front(), slice = add_loop(k, slices);
    const int64_t length = loops_.extent(f) / slices;
    k.extents[static_cast<size_t>(f)] = Dim(length);
    for (size_t a = 0; a < k.accesses.size(); ++a)
      k.accesses[a].strides[static_cast<size_t>(slice)] = Dim(loops_.stride(static_cast<int>(a), f) * length);
    for (Inst& i : k.insts)
      if (i.deps & loop_bit(f)) i.deps |= loop_bit(slice);
    k.insts[static_cast<size_t>(fold.inst)].deps |= loop_bit(slice);
    use_finished(k);
    const int to = add_access(k, partial, fold.inst, Operand::Kind::output, slice);
    Block row = std::move(row_of(k));
    std::erase_if(row, [&](const Step& s) { return s.kind != Step::Kind::reduce || s.inst != fold.inst; });
    row.push_back({.kind = Step::Kind::store, .inst = fold.inst, .access = to, .body = {}});
    row_of(k) = {{.kind = Step::Kind::loop, .loop = slice, .body = std::move(row)}};
    k.nest.resize(static_cast<size_t>(k.parallel));
    k.nest.push_back(slice);
    ++k.parallel;
    add(std::move(k));
  }

  // The fold's inst becomes one over slices; its step.
  Step over_slices(LoopKernel& k, const RowFold& fold, int64_t slices, int partial) const {
    const int slice = add_loop(k, slices);
    const int from = add_access(k, partial, fold.inst, Operand::Kind::input, slice),
              load = static_cast<int>(k.insts.size());
    Inst& i = k.insts[static_cast<size_t>(fold.inst)];
    i.a = load;
    i.loops = {slice};
    k.insts.push_back(
        {.kind = InstKind::load, .type = i.type, .access = from, .loops = {}, .deps = i.deps | loop_bit(slice)});
    Block each{{.kind = Step::Kind::compute, .inst = load, .body = {}},
               {.kind = Step::Kind::fold, .inst = fold.inst, .body = {}}};
    Step reduce{.kind = Step::Kind::reduce, .inst = fold.inst, .body = {}};
    reduce.body.push_back({.kind = Step::Kind::loop, .loop = slice, .body = std::move(each)});
    return reduce;
  }

  void add_join(const RowFold& fold, int64_t slices, int partial) {
    LoopKernel k = with_numbers(loops_);
    Step reduce = over_slices(k, fold, slices, partial);
    const int to = add_access(k, finished_.back().second, fold.inst, Operand::Kind::output, -1);
    Block& row = row_of(k);
    row.clear();
    row.push_back(std::move(reduce));
    row.push_back({.kind = Step::Kind::store, .inst = fold.inst, .access = to, .body = {}});
    k.nest.resize(static_cast<size_t>(k.parallel));
    add(std::move(k));
  }

  void add_joined_finish(const RowFold& fold, int64_t slices, int partial) {
    LoopKernel k = with_numbers(loops_);
    Step reduce = over_slices(k, fold, slices, partial);
    for (Step& s : row_of(k))
      if (s.kind == Step::Kind::reduce) s = reduce;
    add(std::move(k));
  }

  void add_finish() {
    LoopKernel k = with_numbers(loops_);
    use_finished(k);
    std::erase_if(row_of(k), [](const Step& s) { return s.kind == Step::Kind::reduce; });
    add(std::move(k));
  }

  const BoundLoops& loops_;
  const int64_t blocks_, multiprocessors_;
  std::vector<RowFold> folds_;
  std::vector<std::pair<int, int>> finished_;  // fold and place
  SplitKernels out_;
};

}  // namespace

SplitKernels split_folds(const BoundLoops& loops, int64_t blocks, int multiprocessors) {
  return Splitter(loops, blocks, multiprocessors).run();
}

}  // namespace trine::codegen
