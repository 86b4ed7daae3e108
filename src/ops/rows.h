// Families of like operators are tables: a row holds what differs, its type says how the family infers, computes and
// lowers. register_rows makes an OpDef of every row.
//
//   constexpr UnaryRow kRows[] = {{"sin", "Sin", ...}, {"cos", "Cos", ...}};
//   [[maybe_unused]] const bool kRegistered = register_rows<kRows>();
#pragma once

#include <iterator>
#include <utility>

#include "codegen/lower.h"
#include "graph/eval.h"
#include "graph/infer.h"

namespace trine {

template <const auto& rows, size_t I>
OpDef op_of_row() {
  OpDef def = rows[I].describe();
  def.infer = [](InferContext& c) { rows[I].infer(c); };
  def.reference = [](EvalContext& c) { rows[I].reference(c); };
  def.lower = [](codegen::LowerContext& c) { return rows[I].lower(c); };
  return def;
}

template <const auto& rows, size_t... I>
bool register_each(std::index_sequence<I...>) {
  static const OpDef defs[] = {op_of_row<rows, I>()...};
  static const RegisterOp registered[] = {RegisterOp(defs[I])...};
  return std::size(registered) != 0;
}

template <const auto& rows>
bool register_rows() {
  return register_each<rows>(std::make_index_sequence<std::size(rows)>());
}

}  // namespace trine
