#include "backends/cuda/rows/axes.h"

namespace trine::cuda {

std::vector<Axis> axes_of(const Dims& dims, const Dims& in_strides, const Dims& out_strides) {
  std::vector<Axis> axes, joined;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) axes.push_back({dims[i], in_strides[i], out_strides[i]});
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.out > b.out; });
  for (const Axis& a : axes) {
    const bool one_run = !joined.empty() && joined.back().in == a.in * a.size && joined.back().out == a.out * a.size;
    if (one_run) joined.back() = {joined.back().size * a.size, a.in, a.out};
    else joined.push_back(a);
  }
  if (joined.empty()) joined.push_back({1, 1, 1});
  return joined;
}

CopySizes sizes_of(const std::vector<Axis>& axes) {
  CopySizes s{};
  int64_t items = 1;
  for (const Axis& a : axes) {
    s.in[s.axes] = a.in, s.out[s.axes] = a.out;
    s.size[s.axes++] = divider_of(a.size);
    items *= a.size;
  }
  s.items = static_cast<unsigned>(items);
  return s;
}

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = dims[i] == 1 ? 0 : stride;
  return strides;
}

}  // namespace trine::cuda
