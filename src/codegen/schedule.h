// From a bag of instructions and stores to a loop nest. The steps, in order:
//
//   order_loops     loops that folds depend on go outside, so that each fold runs once per row, not once per element
//   collapse_loops  neighbours that every access walks as one become one (a relu over four dimensions is one loop)
//   choose_vectors  which loop of each path runs as vectors: the one that makes most accesses contiguous
//   build_nest      places every instruction in the outermost block that knows its loops
//   number          drops what is unused, numbers the rest in order of use, and hashes it
#pragma once

#include "codegen/expressions.h"

namespace trine::codegen {

struct Store {
  int inst = -1;
  int access = -1;
  LoopSet loops = 0;  // that its element is indexed by
};

// A kernel under construction.
struct Draft {
  LoopKernel kernel;
  std::vector<Store> stores;
  std::vector<int> folds;        // reachable reduce insts
  std::vector<int> outer_folds;  // those that are computed in the output's own nest
  std::vector<int> group_ends;   // positions in kernel.nest: loops between two ends may change places

  Inst& inst(int id) { return kernel.insts[static_cast<size_t>(id)]; }
  const Inst& inst(int id) const { return kernel.insts[static_cast<size_t>(id)]; }
};

// The insts that `root` needs without looking into folds; a fold itself is included.
std::vector<int> reachable(const LoopKernel& kernel, int root);

void order_loops(Draft& draft);
void collapse_loops(Draft& draft);
void choose_vectors(Draft& draft);
// Values that are kept in a row buffer, each with the loops of its box.
std::map<int, std::vector<int>> values_to_keep(const Draft& draft);
void build_nest(Draft& draft);
void number(LoopKernel& kernel);

}  // namespace trine::codegen
