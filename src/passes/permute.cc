#include "passes/permute.h"

#include <algorithm>
#include <numeric>

namespace trine {

Perm to_nhwc(int rank) {
  Perm p = {0};
  for (int i = 2; i < rank; ++i) p.push_back(i);
  p.push_back(1);
  return p;
}

Perm to_nchw(int rank) { return inverse(to_nhwc(rank)); }

Perm inverse(const Perm& p) {
  Perm q(p.size());
  for (size_t i = 0; i < p.size(); ++i) q[static_cast<size_t>(p[i])] = static_cast<int64_t>(i);
  return q;
}

Perm compose(const Perm& first, const Perm& second) {
  Perm p;
  for (int64_t axis : second) p.push_back(first[static_cast<size_t>(axis)]);
  return p;
}

bool is_identity(const Perm& p) {
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Perm perm_of(const Rewriter& r, int n) {
  if (!r.is(n, "transpose")) return {};
  Perm p = r.node(n).attrs.integers("perm"), sorted = p;
  std::sort(sorted.begin(), sorted.end());
  return is_identity(sorted) ? p : Perm{};  // not yet spelled out from the front: left alone
}

Perm perm_of_value(const Rewriter& r, ValueId v) { return perm_of(r, r.maker(v)); }

ValueId add_transpose(Rewriter& r, ValueId v, const Perm& p) {
  if (const Perm before = perm_of_value(r, v); !before.empty() && before.size() == p.size())
    return add_transpose(r, r.input(r.maker(v), 0), compose(before, p));
  if (is_identity(p)) return v;
  Attrs attrs;
  attrs.set("perm", p);
  return r.add("transpose", {v}, std::move(attrs));
}

void become_transpose(Rewriter& r, int n, ValueId v, const Perm& p) {
  Attrs attrs;
  attrs.set("perm", p);
  r.rewrite(n, "transpose", {v}, std::move(attrs));
}

}  // namespace trine
