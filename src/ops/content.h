// Shape arithmetic: what small integer tensors hold, symbolically, so that Shape -> Gather -> Mul -> Reshape folds
// into one expression over the model's symbols.
#pragma once

#include "graph/infer.h"

namespace trine {

using DimUnary = Dim (*)(const Dim& a);
using DimBinary = Dim (*)(const Dim& a, const Dim& b);

// True only if no values of the symbols (which are never negative) make it negative.
bool never_negative(const Dim& a);
// Whether a == b holds for all values of the symbols, or for none; nothing when it depends.
std::optional<bool> always_equal(const Dim& a, const Dim& b);

// Quotient rounded toward zero, as integer Div means it.
Dim truncated_div(const Dim& a, const Dim& b);
Dim floor_mod(const Dim& a, const Dim& b);

// Content of output 0 from that of the inputs; does nothing when it is unknown or not an integer or boolean tensor.
void fold_content(InferContext& c, DimUnary f);
void fold_content(InferContext& c, DimBinary f);  // left fold over all inputs, broadcast
void pass_content(InferContext& c, int input = 0);
// Sets content of output 0 unless its elements do not fit the output's type.
void set_checked_content(InferContext& c, DType type, std::vector<Dim> content);

}  // namespace trine
