// Finds the interpreter's function for a query, for one CPU level (see interp_simd.h).
#pragma once

#include "codegen/interp_fold.h"
#include "codegen/interp_memory.h"

namespace trine::codegen::interp {
namespace {

inline Run find(const Query& q) {
  switch (q.kind) {
    case Kind::constant: return constant;
    case Kind::index: return index_value;
    case Kind::load: return load_of(q.memory);
    case Kind::store: return store_of(q.memory);
    case Kind::aim: return aim_of(q.memory);
    case Kind::unary: return unary(q.op, q.type);
    case Kind::binary: return binary(q.op, q.type);
    case Kind::select: return select(q.type);
    case Kind::cast: return cast_of(q.type, q.to);
    case Kind::cast_after: return cast_after(q.memory);
    case Kind::fold_start:
    case Kind::fold_lanes:
    case Kind::fold_tile:
    case Kind::fold_finish: return fold_of(q.kind, q.fold, q.type);
  }
  return nullptr;
}

}  // namespace
}  // namespace trine::codegen::interp
