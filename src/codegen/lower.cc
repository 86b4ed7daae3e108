// The parts of LowerContext that every lowering shares.
#include "codegen/lower.h"

namespace trine::codegen {

bool LowerContext::has(int input) const {
  return input >= 0 && input < static_cast<int>(node().inputs.size()) &&
         node().inputs[static_cast<size_t>(input)] != kNoValue;
}

Index LowerContext::index_with(int dim, const Dim& at) const {
  Index i = index_;
  i[static_cast<size_t>(dim)] = at;
  return i;
}

Index LowerContext::broadcast_index(int input) const {
  const Shape& from = shape(input);
  const Shape& out = output_type().shape;
  Index index(static_cast<size_t>(from.rank()));
  for (int i = 0; i < from.rank(); ++i) {
    const int o = i + out.rank() - from.rank();
    const Dim& at = index_[static_cast<size_t>(o)];
    if (from[i] == Dim(1)) continue;
    // Symbols that may turn out to be 1 at run time: the factor is 0 then, else 1.
    index[static_cast<size_t>(i)] =
        from[i] == out[o] || from[i].is_constant() ? at : at * trine::min(from[i] - 1, Dim(1));
  }
  return index;
}

}  // namespace trine::codegen
