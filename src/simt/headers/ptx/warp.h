// What lanes of a warp do together.
#pragma once

#include "types.h"

namespace trine_ptx {

// shfl d[|p], a, b, c, mask: c holds the segment's mask of lanes and the clamp.
template <Text op, class T, class... All>
PTX void i_shfl(All&&... all) {
  static_assert(op.only("sync up down bfly idx "));
  static_assert(op.has("sync"));
  constexpr unsigned results = sizeof...(All) - 4;
  const s32 value = as<s32>(pick<results>(all...)), by = as<s32>(pick<results + 1>(all...)),
            c = as<s32>(pick<results + 2>(all...));
  const u32 mask = as<u32>(pick<results + 3>(all...));
  s32 moved;
  if constexpr (op.has("up")) moved = __nvvm_shfl_sync_up_i32(mask, value, by, c);
  else if constexpr (op.has("down")) moved = __nvvm_shfl_sync_down_i32(mask, value, by, c);
  else if constexpr (op.has("bfly")) moved = __nvvm_shfl_sync_bfly_i32(mask, value, by, c);
  else moved = __nvvm_shfl_sync_idx_i32(mask, value, by, c);
  if constexpr (results == 2) {
    const s32 lane = __nvvm_read_ptx_sreg_laneid(), segment = c >> 8 & 31, clamp = c & 31, step = by & 31;
    const s32 most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    const s32 from = op.has("up")     ? lane - step
                     : op.has("down") ? lane + step
                     : op.has("bfly") ? lane ^ step
                                      : (least | (step & ~segment));
    put(pick<1>(all...), op.has("up") ? from >= most : from <= most);
  }
  put(pick<0>(all...), moved);
}
template <Text op, class T, class D, class P, class M>
PTX void i_vote(D& d, P p, M m) {
  static_assert(op.only("sync all any uni ballot "));
  static_assert(op.has("sync"));
  const u32 mask = as<u32>(m);
  const bool yes = as<bool>(p);
  if constexpr (op.has("ballot")) put(d, __ballot_sync(mask, yes));
  else if constexpr (op.has("all")) put(d, __all_sync(mask, yes) != 0);
  else if constexpr (op.has("any")) put(d, __any_sync(mask, yes) != 0);
  else put(d, __uni_sync(mask, yes) != 0);
}
template <Text op, class T, class... All>
PTX void i_match(All&&... all) {
  static_assert(op.only("sync any all "));
  constexpr unsigned results = sizeof...(All) - 2;
  const Bits<T> value = as<Bits<T>>(pick<results>(all...));
  const u32 mask = as<u32>(pick<results + 1>(all...));
  if constexpr (op.has("any")) {
    put(pick<0>(all...), __match_any_sync(mask, value));
  } else {
    int same_in_all = 0;
    const u32 lanes = __match_all_sync(mask, value, &same_in_all);
    put(pick<0>(all...), lanes);
    if constexpr (results == 2) put(pick<1>(all...), same_in_all != 0);
  }
}
template <Text op, class T, class D, class A, class M>
PTX void i_redux(D& d, A x, M m) {
  static_assert(op.only("sync add min max and or xor ") && is_integer<T>);
  const u32 mask = as<u32>(m);
  const T a = as<T>(x);
  if constexpr (op.has("add")) put(d, __reduce_add_sync(mask, a));
  else if constexpr (op.has("min")) put(d, __reduce_min_sync(mask, a));
  else if constexpr (op.has("max")) put(d, __reduce_max_sync(mask, a));
  else if constexpr (op.has("and")) put(d, __reduce_and_sync(mask, as<u32>(a)));
  else if constexpr (op.has("or")) put(d, __reduce_or_sync(mask, as<u32>(a)));
  else put(d, __reduce_xor_sync(mask, as<u32>(a)));
}
template <Text op, class T, class D>
PTX void i_activemask(D& d) {
  put(d, __activemask());
}
// One lane of those in the mask: the lowest.
template <Text op, class D, class P, class M>
PTX void i_elect(D&& d, P& p, M m) {
  static_assert(op.only("sync "));
  const u32 mask = as<u32>(m), leader = static_cast<u32>(__ffs(static_cast<int>(mask))) - 1;
  __syncwarp(mask);
  put(d, leader);
  put(p, static_cast<u32>(__nvvm_read_ptx_sreg_laneid()) == leader);
}

}  // namespace trine_ptx
