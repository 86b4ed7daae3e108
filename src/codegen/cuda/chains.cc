// What a team of threads walks together.
#include <algorithm>

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

}  // namespace trine::codegen
