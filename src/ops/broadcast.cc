#include "ops/broadcast.h"

#include <fmt/format.h>

#include "trine/base/error.h"

namespace trine {

Strides dense_strides(const Dims& dims) {
  Strides strides(dims.size());
  uint64_t step = 1;  // may wrap where another dimension is 0: then nothing is read through it
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(dims[i]);
  }
  return strides;
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& d = out[shift + i];
    if (d == 1) d = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != d)
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("broadcast: shapes [{}] and [{}]; dimensions must be equal or 1", to_string(a), to_string(b)));
  }
  return out;
}

Dims broadcast_dims(std::initializer_list<const Dims*> shapes) {
  Dims out;
  for (const Dims* shape : shapes) out = broadcast_dims(out, *shape);
  return out;
}

Strides broadcast_strides(const Dims& from, const Dims& to) {
  if (from.size() > to.size() || broadcast_dims(from, to) != to)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("broadcast: shape [{}] does not broadcast to [{}]", to_string(from), to_string(to)));
  Strides strides(to.size(), 0);
  const size_t shift = to.size() - from.size();
  const Strides dense = dense_strides(from);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[shift + i] = dense[i];
  return strides;
}

Walk::Walk(const Dims& dims, std::vector<Strides> strides)
    : dims_(dims),
      strides_(std::move(strides)),
      index_(dims.size(), 0),
      offsets_(strides_.size(), 0),
      count_(element_count(dims)) {}

void Walk::next() {
  ++position_;
  for (size_t d = dims_.size(); d-- > 0;) {
    ++index_[d];
    for (size_t k = 0; k < offsets_.size(); ++k) offsets_[k] += strides_[k][d];
    if (index_[d] < dims_[d]) return;
    for (size_t k = 0; k < offsets_.size(); ++k) offsets_[k] -= strides_[k][d] * dims_[d];
    index_[d] = 0;
  }
}

}  // namespace trine
