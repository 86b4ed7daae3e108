// What a team of threads walks together.
#include <algorithm>
#include <map>
#include <set>

#include "codegen/cuda/schedule.h"

namespace trine::codegen {
namespace {

// Nothing but computation, then one loop.
bool leads_on(const Block& block) {
  if (block.empty() || block.back().kind != Step::Kind::loop) return false;
  return std::all_of(block.begin(), block.end() - 1, [](const Step& s) { return s.kind == Step::Kind::compute; });
}

}  // namespace

Chain chain_of(const BoundLoops& loops, const Step& loop) {
  Chain chain;
  for (const Step* at = &loop;; at = &at->body.back()) {
    if (loops.extent(at->loop) != 1) chain.loops.push_back(at->loop);
    chain.blocks.push_back(&at->body);
    if (!leads_on(at->body)) return chain;
  }
}

std::vector<Chain> row_chains(const BoundLoops& loops) {
  std::vector<Chain> chains;
  for (const Step& s : loops.row()) {
    if (s.kind == Step::Kind::loop) chains.push_back(chain_of(loops, s));
    if (s.kind == Step::Kind::reduce && !s.body.empty()) chains.push_back(chain_of(loops, s.body.back()));
  }
  return chains;
}

std::vector<SharedValue> shared_values(const BoundLoops& loops, const std::vector<Chain>& chains) {
  std::map<int, std::vector<size_t>> users;
  std::set<int> buffered;
  for (size_t n = 0; n < chains.size(); ++n)
    for (const Block* block : chains[n].blocks)
      for (const Step& s : *block) {
        if (s.kind == Step::Kind::compute) users[s.inst].push_back(n);
        if (s.kind == Step::Kind::store && loops.operand_of(s.access).kind == Operand::Kind::scratch)
          buffered.insert(s.inst);
      }
  std::vector<SharedValue> shared;
  for (const auto& [id, by] : users) {
    const auto& over = chains[by[0]].loops;
    const bool alike = std::all_of(by.begin(), by.end(), [&](size_t n) { return chains[n].loops == over; });
    const bool varies = std::any_of(over.begin(), over.end(), [&](int l) { return loops.depends(id, l); });
    if (by.front() == by.back() || !alike || !varies) continue;
    if (loops.inst(id).kind == InstKind::load || buffered.contains(id)) shared.push_back({id, by.front(), by.back()});
  }
  return shared;
}

}  // namespace trine::codegen
