// Element types of operands: what OpDef::types says, and whether a node's inputs keep to it.
//
//   "Tf T T"     three inputs of one type T, which is a float       "T ..."   any number of inputs of one type
//   "a x"        any tensor, and i32 or i64                         "b ? ..." a boolean, then anything
//
// One word per input: a capital letter is a type that all inputs of that letter share; small letters say which types
// are accepted (none: any). Inputs past the last word are anything, as are those of the word `?`, which may be
// sequences too;
// `...` repeats the word before it. Absent inputs and types that are not known yet pass.
//
//   f f16 bf16 f32 f64      i 8 to 64 bits      l i64          x i32, i64           b bool       s string
//   h f16 bf16 f32          q 2 and 4 bits      e f8 f6 f4     c complex            a any
//
// "Tw" is T, or f32 where T is f16 or bf16: passes give products of those such biases.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "trine/base/shape.h"

namespace trine {

struct Operand {
  Type::Kind kind = Type::Kind::none;  // none: absent
  DType dtype = DType::none;
};

// What is wrong with `count` operands, or an empty string.
std::string operand_problem(std::string_view types, int count, const std::function<Operand(int)>& operand);

}  // namespace trine
