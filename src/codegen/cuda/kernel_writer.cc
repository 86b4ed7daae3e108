// The nest: indices of threads, loops, folds.
#include "codegen/cuda/kernel_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/scalar_text.h"

namespace trine::codegen {

KernelWriter::KernelWriter(const BoundLoops& loops, const ThreadSchedule& schedule)
    : loops_(loops),
      k_(loops.kernel()),
      s_(schedule),
      packed_(schedule.packed),
      sizes_(schedule.wide_index),
      known_(1),
      tail_(schedule.packed != 0 && !schedule.whole) {}

// Which thread does what: `point`, and `lane` of a team.
void KernelWriter::points() {
  int64_t count = 1;
  for (int l : s_.order) count *= s_.units(loops_, l);
  const std::string limit = sizes_.number("points", count), block = "static_cast<Index>(blockIdx.x)";
  if (s_.edge) {
    out_.line(fmt::format("const Index point = {};", block));
  } else if (s_.columns) {
    out_.line("const int lane = threadIdx.y;");
    out_.line(fmt::format("Index point = {} * {} + threadIdx.x;", block, s_.block_x));
  } else if (s_.team == 1) {
    out_.line(fmt::format("const Index point = {} * {} + threadIdx.x;", block, s_.block_x));
  } else if (s_.team == s_.block_x) {
    out_.line("const int lane = threadIdx.x;");
    out_.line(fmt::format("const Index point = {};", block));
  } else {
    out_.line(fmt::format("const int lane = threadIdx.x % {};", s_.team));
    out_.line(fmt::format("Index point = {} * {} + threadIdx.x / {};", block, s_.points_per_block(), s_.team));
  }
  // Threads that the others wait for stay; they work on the last point once more.
  clamped_ = s_.columns || (s_.team > 1 && s_.team < 32);
  if (clamped_) {
    out_.line(fmt::format("const bool active = point < {};", limit));
    out_.line(fmt::format("point = active ? point : {} - 1;", limit));
  } else if (!s_.edge && (s_.team == 1 || s_.team < s_.block_x)) {
    out_.line(fmt::format("if (point >= {}) return;", limit));
  }
  decode("point", "q", s_.order);
}

// `linear` counts the loops' iterations, or packs of them.
void KernelWriter::decode(const std::string& linear, const std::string& tag, const std::vector<int>& fastest_first) {
  std::string rest = linear;
  for (size_t n = 0; n < fastest_first.size(); ++n) {
    const int l = fastest_first[n];
    const bool packed = s_.is_packed(l);
    std::string index = rest;
    if (n + 1 < fastest_first.size()) {
      const std::string next = fmt::format("{}{}", tag, l);
      const int64_t count = s_.units(loops_, l);
      if (s_.wide_index) {
        const std::string by = sizes_.number(fmt::format("c{}", l), count);
        out_.line(fmt::format("const Index {} = {} / {};", next, rest, by));
        index = fmt::format("({} - {} * {})", rest, next, by);
      } else {
        const std::string by = sizes_.divisor(fmt::format("d{}", l), count);
        out_.line(fmt::format("const Index {} = trine::divided({}, {});", next, rest, by));
        index = fmt::format("({} - {} * static_cast<Index>({}.divisor))", rest, next, by);
      }
      rest = next;
    }
    if (s_.edge && (l == s_.read_along || l == s_.write_along)) {
      out_.line(fmt::format("const Index square{} = {} * {};", l, index, s_.edge));
      continue;
    }
    out_.line(fmt::format("const Index i{} = {}{};", l, index, packed ? " * kWidth" : ""));
    if (packed && tail_) {
      const std::string extent = sizes_.number(fmt::format("n{}", l), loops_.extent(l));
      out_.line(fmt::format("const int m = {0} - i{1} < kWidth ? {0} - i{1} : kWidth;", extent, l));
    }
  }
}

// What stands between the parallel loops: an outer output's store is done where the inner loops start.
void KernelWriter::path() {
  const auto& blocks = loops_.path();
  for (size_t depth = 0; depth + 1 < blocks.size(); ++depth) {
    std::string condition;
    for (size_t inner = depth; inner < loops_.path_loops().size(); ++inner) {
      const int l = loops_.path_loops()[inner];
      if (loops_.extent(l) > 1) condition += fmt::format("{}i{} == 0", condition.empty() ? "" : " && ", l);
    }
    if (s_.team > 1) condition += condition.empty() ? "lane == 0" : " && lane == 0";
    for (const Step& s : *blocks[depth]) {
      if (s.kind == Step::Kind::store) store(s, condition);
      else if (s.kind != Step::Kind::loop) step(s);
    }
  }
}

void KernelWriter::row_block() {
  known_.emplace_back();
  row_scope_ = known_.size() - 1;
  choose_kept();
  for (const Step& s : loops_.row()) {
    if (s_.team == 1) step(s);
    else if (s.kind == Step::Kind::loop) team_loop(chain_of(loops_, s));
    else if (s.kind == Step::Kind::reduce) row_fold(s);
    else if (s.kind == Step::Kind::store) store(s, "lane == 0");
    else step(s);
  }
  known_.pop_back();
}

// Loads and costly values that several passes over the row need.
void KernelWriter::choose_kept() {
  if (s_.keep == 0) return;
  for (const SharedValue& v : shared_values(loops_, row_chains(loops_))) kept_.insert(v.inst);
  for (int id : kept_)
    out_.line(fmt::format("{} v{}[{}]{};", compute_type_text(loops_.inst(id).type), id, s_.keep,
                          is_packed(id) ? "[kWidth]" : ""));
}

void KernelWriter::team_loop(const Chain& chain) {
  int64_t count = 1;
  std::string name = "r";
  for (int l : chain.loops) {
    count *= s_.units(loops_, l);
    name += fmt::format("_{}", l);
  }
  const std::string limit = sizes_.number(name, count);
  if (s_.keep > 0) {
    out_.line("#pragma unroll");
    out_.open(fmt::format("for (int k = 0; k < {}; ++k)", s_.keep));
    out_.line(fmt::format("const Index at = lane + k * {};", s_.team));
    out_.open(fmt::format("if (at < {})", limit));
  } else {
    out_.line("#pragma unroll 4");
    out_.open(fmt::format("for (Index at = lane; at < {}; at += {})", limit, s_.team));
  }
  known_.emplace_back();
  std::vector<int> fastest_first(chain.loops.rbegin(), chain.loops.rend());
  decode("at", "q", fastest_first);
  for (size_t n = 0; n < chain.blocks.size(); ++n) steps(*chain.blocks[n], n + 1 < chain.blocks.size());
  known_.pop_back();
  out_.close();
  if (s_.keep > 0) out_.close();
}

void KernelWriter::steps(const Block& block, bool leads_on) {
  for (const Step& s : block)
    if (!leads_on || s.kind != Step::Kind::loop) step(s);
}

void KernelWriter::step(const Step& s) {
  switch (s.kind) {
    case Step::Kind::compute: need(s.inst); break;
    case Step::Kind::loop: serial_loop(s); break;
    case Step::Kind::reduce: {
      if (std::any_of(known_.begin(), known_.end(), [&](const auto& k) { return k.contains(s.inst); })) break;
      fold_start(s);
      for (const Step& inner : s.body) step(inner);
      known_.back().insert(s.inst);
      break;
    }
    case Step::Kind::fold: fold_join(s); break;
    case Step::Kind::store: store(s, ""); break;
  }
}

void KernelWriter::serial_loop(const Step& s) {
  if (loops_.extent(s.loop) == 1) return steps(s.body, false);
  const std::string extent = sizes_.number(fmt::format("n{}", s.loop), loops_.extent(s.loop));
  if (!loop_of(s.body)) out_.line("#pragma unroll 4");
  out_.open(fmt::format("for (Index i{0} = 0; i{0} < {1}; ++i{0})", s.loop, extent));
  known_.emplace_back();
  steps(s.body, false);
  known_.pop_back();
  out_.close();
}

// A fold along a packed loop has a running result for each place in the pack.
void KernelWriter::fold_start(const Step& s) {
  const Inst& i = loops_.inst(s.inst);
  const std::string type = compute_type_text(i.type), identity = fold_text(i.fold, i.type) + "::kIdentity";
  const bool along = std::any_of(i.loops.begin(), i.loops.end(), [&](int l) { return s_.is_packed(l); });
  if (!along && !is_packed(s.inst)) {
    out_.line(fmt::format("{} v{} = {};", type, s.inst, identity));
    return;
  }
  const char* name = along ? "a" : "v";
  out_.line(fmt::format("{} {}{}[kWidth];", type, name, s.inst));
  out_.line(fmt::format("EACH {}{}[u] = {};", name, s.inst, identity));
}

void KernelWriter::fold_join(const Step& s) {
  const Inst& i = loops_.inst(s.inst);
  need(i.a);
  const bool along = std::any_of(i.loops.begin(), i.loops.end(), [&](int l) { return s_.is_packed(l); });
  const bool each = along || is_packed(s.inst);
  const std::string to = fmt::format("{}{}{}", along ? "a" : "v", s.inst, each ? "[u]" : "");
  out_.line(fmt::format("{}{}{} = {}::join({}, {});", each ? "EACH " : "", along && tail_ ? "if (u < m) " : "", to,
                        fold_text(i.fold, i.type), to, ref(i.a)));
}

// A fold that the team of a point shares.
void KernelWriter::row_fold(const Step& s) {
  const Inst& i = loops_.inst(s.inst);
  fold_start(s);
  if (s.body.empty() || s.body.back().kind != Step::Kind::loop) {
    for (const Step& inner : s.body) step(inner);
    known_.back().insert(s.inst);
    return;
  }
  team_loop(chain_of(loops_, s.body.back()));
  const std::string fold = fold_text(i.fold, i.type);
  if (std::any_of(i.loops.begin(), i.loops.end(), [&](int l) { return s_.is_packed(l); }))
    out_.line(fmt::format("{} v{} = join_pack<{}>(a{});", compute_type_text(i.type), s.inst, fold, s.inst));
  if (s_.columns) out_.line(fmt::format("join_columns<{}, {}, {}>(v{});", fold, s_.block_x, s_.block_y, s.inst));
  else out_.line(fmt::format("v{} = join_team<{}, {}>(v{});", s.inst, fold, s_.team, s.inst));
  known_.back().insert(s.inst);
}

}  // namespace trine::codegen
