// Permutations of axes: y = transpose(x, p) means that axis i of y is axis p[i] of x.
#pragma once

#include "passes/match.h"

namespace trine {

using Perm = std::vector<int64_t>;

Perm to_nhwc(int rank);  // [N,C,spatial...] -> [N,spatial...,C]
Perm to_nchw(int rank);
Perm inverse(const Perm& p);
Perm compose(const Perm& first, const Perm& second);  // transpose by first, then by second
bool is_identity(const Perm& p);

// The permutation of node n when it is a transpose; else empty.
Perm perm_of(const Rewriter& r, int n);
Perm perm_of_value(const Rewriter& r, ValueId v);  // of the node that makes v

// transpose(v, p), merged with a transpose that makes v, and v itself where nothing moves.
ValueId add_transpose(Rewriter& r, ValueId v, const Perm& p);
// Node n, whose meaning `v` now has under other axes, becomes transpose(v, p).
void become_transpose(Rewriter& r, int n, ValueId v, const Perm& p);

}  // namespace trine
