#include "ops/movement.h"

#include <algorithm>
#include <cstring>

#include "ops/node_error.h"
#include "trine/base/error.h"

namespace trine {

namespace {

struct Loop {
  int64_t count, to_stride, at_stride;
};

// The two views as one loop nest without unit dimensions, neighbours that run on merged into one.
std::vector<Loop> merged_loops(const View& to, const View& at) {
  std::vector<Loop> loops;
  for (size_t k = 0; k < to.dims.size(); ++k) {
    if (to.dims[k] == 1) continue;
    Loop loop{to.dims[k], to.strides[k], at.strides[k]};
    if (!loops.empty() && loops.back().to_stride == loop.count * loop.to_stride &&
        loops.back().at_stride == loop.count * loop.at_stride) {
      loop.count *= loops.back().count;
      loops.back() = loop;
    } else {
      loops.push_back(loop);
    }
  }
  if (loops.empty()) loops.push_back({1, 1, 1});
  return loops;
}

// Calls row(to, at, innermost loop) for every innermost row.
template <class Row>
void each_row(const View& to, const View& at, Row row) {
  for (int64_t n : to.dims)
    if (n == 0) return;
  const std::vector<Loop> loops = merged_loops(to, at);
  const size_t outer = loops.size() - 1;
  std::vector<int64_t> index(outer, 0);
  int64_t to_at = to.offset, at_at = at.offset;
  while (true) {
    row(to_at, at_at, loops.back());
    size_t k = outer;
    for (; k > 0; --k) {
      const Loop& loop = loops[k - 1];
      to_at += loop.to_stride;
      at_at += loop.at_stride;
      if (++index[k - 1] < loop.count) break;
      to_at -= loop.to_stride * loop.count;
      at_at -= loop.at_stride * loop.count;
      index[k - 1] = 0;
    }
    if (k == 0) return;
  }
}

template <size_t size>
void copy_row(char* to, const char* from, const Loop& loop) {
  const auto step = static_cast<int64_t>(size);
  for (int64_t i = 0; i < loop.count; ++i)
    std::memcpy(to + i * loop.to_stride * step, from + i * loop.at_stride * step, size);
}

void copy_row(size_t size, char* to, const char* from, const Loop& loop) {
  if (loop.to_stride == 1 && loop.at_stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(loop.count) * size);
    return;
  }
  switch (size) {
    case 1: return copy_row<1>(to, from, loop);
    case 2: return copy_row<2>(to, from, loop);
    case 4: return copy_row<4>(to, from, loop);
    case 8: return copy_row<8>(to, from, loop);
    case 16: return copy_row<16>(to, from, loop);
    default: TRINE_CHECK(false, std::to_string(size));
  }
}

}  // namespace

View View::range(int axis, int64_t start, int64_t count) const {
  View part = *this;
  const auto k = static_cast<size_t>(axis);
  part.dims[k] = count;
  part.offset += start * strides[k];
  return part;
}

TensorBuilder::TensorBuilder(DType dtype, Dims dims) : dims_(std::move(dims)), is_string_(dtype == DType::string) {
  if (is_string_) strings_.resize(value_count(dims_));
  else tensor_ = Tensor(dtype, dims_);
}

TensorBuilder TensorBuilder::copy_of(const Tensor& tensor) {
  TensorBuilder builder(tensor.dtype(), tensor.dims());
  builder.copy(0, tensor, 0, tensor.elements());
  return builder;
}

void TensorBuilder::zero() {
  if (is_string_) std::fill(strings_.begin(), strings_.end(), std::string());
  else if (tensor_.bytes() > 0) std::memset(tensor_.mutable_data(), 0, tensor_.bytes());
}

void TensorBuilder::fill(const Tensor& value) {
  if (is_string_) {
    std::fill(strings_.begin(), strings_.end(), value.strings()[0]);
    return;
  }
  const View to = View::whole(dims_);
  copy(to, value, View{dims_, std::vector<int64_t>(dims_.size(), 0), 0});
}

void TensorBuilder::copy(int64_t to, const Tensor& from, int64_t at, int64_t count) {
  if (count == 0) return;
  if (is_string_) {
    std::copy_n(from.strings().begin() + at, count, strings_.begin() + to);
    return;
  }
  const size_t size = byte_size(tensor_.dtype());
  std::memcpy(tensor_.mutable_as<char>() + static_cast<size_t>(to) * size,
              from.as<char>() + static_cast<size_t>(at) * size, static_cast<size_t>(count) * size);
}

void TensorBuilder::copy(const View& to, const Tensor& from, const View& at) {
  if (is_string_) {
    each_row(to, at, [&](int64_t t, int64_t f, const Loop& loop) {
      for (int64_t i = 0; i < loop.count; ++i)
        strings_[static_cast<size_t>(t + i * loop.to_stride)] =
            from.strings()[static_cast<size_t>(f + i * loop.at_stride)];
    });
    return;
  }
  const size_t size = byte_size(tensor_.dtype());
  char* target = tensor_.mutable_as<char>();
  const char* source = from.as<char>();
  each_row(to, at, [&](int64_t t, int64_t f, const Loop& loop) {
    copy_row(size, target + t * static_cast<int64_t>(size), source + f * static_cast<int64_t>(size), loop);
  });
}

Tensor TensorBuilder::take() {
  return is_string_ ? Tensor::of_strings(std::move(dims_), std::move(strings_)) : std::move(tensor_);
}

Tensor copy_view(const Tensor& source, const View& view) {
  TensorBuilder builder(source.dtype(), view.dims);
  builder.copy(View::whole(view.dims), source, view);
  return builder.take();
}

bool next_index(std::vector<int64_t>& index, const Dims& dims) {
  for (size_t k = dims.size(); k-- > 0;) {
    if (++index[k] < dims[k]) return true;
    index[k] = 0;
  }
  return false;
}

}  // namespace trine
