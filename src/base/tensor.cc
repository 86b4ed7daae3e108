#include "trine/base/tensor.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/float_formats.h"
#include "base/memory.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr size_t kAlignment = 64;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::invalid_argument, "tensor: " + what); }

std::shared_ptr<const void> allocate(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  need_memory(static_cast<double>(rounded));
  void* p = std::aligned_alloc(kAlignment, rounded);
  if (!p) throw Error(ErrorCode::out_of_memory, fmt::format("tensor: cannot allocate {} bytes", bytes));
  take_memory(static_cast<int64_t>(rounded));
  return {p, [rounded](const void* q) {
            std::free(const_cast<void*>(q));
            give_memory(static_cast<int64_t>(rounded));
          }};
}

// Calls f with a value of the memory type of an integer or boolean dtype.
template <class F>
void with_integer(DType type, F f) {
  switch (type) {
    case DType::i8:
    case DType::i4:
    case DType::i2: return f(int8_t{});
    case DType::u8:
    case DType::u4:
    case DType::u2:
    case DType::boolean: return f(uint8_t{});
    case DType::i16: return f(int16_t{});
    case DType::u16: return f(uint16_t{});
    case DType::i32: return f(int32_t{});
    case DType::u32: return f(uint32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u64: return f(uint64_t{});
    default: throw Error(ErrorCode::unsupported, fmt::format("tensor: {} is no integer type", name(type)));
  }
}

// Truncates and saturates; NaN becomes 0.
int64_t saturate(double v, DType type) {
  if (std::isnan(v)) return 0;
  const double low = static_cast<double>(integer_min(type)), high = static_cast<double>(integer_max(type));
  if (v <= low) return integer_min(type);
  if (v >= high) return static_cast<int64_t>(integer_max(type));
  return v >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(v)) : static_cast<int64_t>(v);
}

// Keeps the low bits, as a two's complement register of the type's width would.
int64_t wrap(int64_t v, DType type) {
  switch (type) {
    case DType::i4: return ((v & 15) ^ 8) - 8;
    case DType::u4: return v & 15;
    case DType::i2: return ((v & 3) ^ 2) - 2;
    case DType::u2: return v & 3;
    case DType::boolean: return v != 0;
    default: return v;
  }
}

}  // namespace

Tensor::Tensor(DType dtype, Dims dims) : dtype_(dtype), dims_(std::move(dims)), elements_(element_count(dims_)) {
  if (dtype == DType::string) {
    need_memory(static_cast<double>(elements_) * sizeof(std::string));
    strings_ = std::make_shared<const std::vector<std::string>>(static_cast<size_t>(elements_));
    return;
  }
  owner_ = allocate(bytes());
  data_ = owner_.get();
}

Tensor::Tensor(DType dtype, Dims dims, const void* data, std::shared_ptr<const void> owner)
    : dtype_(dtype), dims_(std::move(dims)), elements_(element_count(dims_)), data_(data), owner_(std::move(owner)) {}

void Tensor::check_values(size_t count, size_t value_bytes) const {
  if (static_cast<int64_t>(count) != elements_)
    fail(fmt::format("{} is given {} values; give {}", type_text(), count, elements_));
  if (value_bytes != byte_size(dtype_))
    fail(fmt::format("{} is given values of {} bytes; give values of {}", type_text(), value_bytes, byte_size(dtype_)));
}

int64_t Tensor::dim(int i) const {
  if (i < 0 || i >= rank()) fail(fmt::format("dimension {} of {}; there are {}", i, type_text(), rank()));
  return dims_[static_cast<size_t>(i)];
}

const std::vector<std::string>& Tensor::strings() const {
  if (!strings_) fail(fmt::format("strings of {}; it holds none", type_text()));
  return *strings_;
}

Tensor Tensor::of_strings(Dims dims, std::vector<std::string> values) {
  Tensor t;
  t.dtype_ = DType::string;
  t.elements_ = element_count(dims);
  t.dims_ = std::move(dims);
  t.check_values(values.size(), 0);
  t.strings_ = std::make_shared<const std::vector<std::string>>(std::move(values));
  return t;
}

Tensor Tensor::scalar_f32(float value) { return of<float>(DType::f32, {}, {value}); }
Tensor Tensor::scalar_i64(int64_t value) { return of<int64_t>(DType::i64, {}, {value}); }

Tensor Tensor::vector_i64(const std::vector<int64_t>& values) {
  return of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values);
}

Tensor Tensor::reshaped(Dims dims) const {
  Tensor t = *this;
  if (element_count(dims) != elements_)
    fail(
        fmt::format("{} under dimensions [{}]; the number of elements must be the same", type_text(), to_string(dims)));
  t.dims_ = std::move(dims);
  return t;
}

Tensor Tensor::clone() const {
  if (dtype_ == DType::string) return *this;  // strings are immutable
  Tensor t(dtype_, dims_);
  if (bytes()) std::memcpy(t.mutable_data(), data_, bytes());
  return t;
}

std::vector<double> Tensor::f64_values() const {
  std::vector<double> out(static_cast<size_t>(elements_));
  if (dtype_ == DType::f32) {
    std::copy_n(as<float>(), elements_, out.begin());
  } else if (dtype_ == DType::f64) {
    std::copy_n(as<double>(), elements_, out.begin());
  } else if (is_float(dtype_)) {
    const bool wide = byte_size(dtype_) == 2;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = small_float_value(dtype_, wide ? as<uint16_t>()[i] : as<uint8_t>()[i]);
  } else {
    with_integer(dtype_, [&](auto t) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(as<decltype(t)>()[i]);
    });
  }
  return out;
}

std::vector<int64_t> Tensor::i64_values() const {
  std::vector<int64_t> out(static_cast<size_t>(elements_));
  if (is_float(dtype_)) {
    const std::vector<double> real = f64_values();
    for (size_t i = 0; i < out.size(); ++i) out[i] = saturate(real[i], DType::i64);
    return out;
  }
  with_integer(dtype_, [&](auto t) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(as<decltype(t)>()[i]);
  });
  return out;
}

Tensor Tensor::from_f64(DType dtype, Dims dims, const std::vector<double>& values) {
  Tensor t(dtype, std::move(dims));
  t.check_values(values.size(), byte_size(dtype));
  if (dtype == DType::f32) {
    for (size_t i = 0; i < values.size(); ++i) t.mutable_as<float>()[i] = static_cast<float>(values[i]);
  } else if (dtype == DType::f64) {
    std::copy(values.begin(), values.end(), t.mutable_as<double>());
  } else if (is_float(dtype)) {
    const bool wide = byte_size(dtype) == 2;
    for (size_t i = 0; i < values.size(); ++i) {
      const uint16_t bits = small_float_bits(dtype, values[i]);
      if (wide) t.mutable_as<uint16_t>()[i] = bits;
      else t.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(bits);
    }
  } else {
    with_integer(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (size_t i = 0; i < values.size(); ++i)
        t.mutable_as<T>()[i] = static_cast<T>(dtype == DType::boolean ? values[i] != 0 : saturate(values[i], dtype));
    });
  }
  return t;
}

Tensor Tensor::from_i64(DType dtype, Dims dims, const std::vector<int64_t>& values) {
  if (is_float(dtype)) return from_f64(dtype, std::move(dims), std::vector<double>(values.begin(), values.end()));
  Tensor t(dtype, std::move(dims));
  t.check_values(values.size(), byte_size(dtype));
  with_integer(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i) t.mutable_as<T>()[i] = static_cast<T>(wrap(values[i], dtype));
  });
  return t;
}

std::string Tensor::type_text() const { return fmt::format("{}[{}]", name(dtype_), to_string(dims_)); }

const Tensor& Datum::tensor() const {
  if (!is_tensor()) fail(is_none() ? "a value that is absent; a tensor is wanted" : "a sequence; a tensor is wanted");
  return std::get<1>(value);
}

const Datum::Sequence& Datum::items() const {
  if (!is_sequence())
    fail(is_none() ? "a value that is absent; a sequence is wanted" : "a tensor; a sequence is wanted");
  return *std::get<2>(value);
}

Datum Datum::sequence(Sequence items) {
  Datum d;
  d.value = std::make_shared<const Sequence>(std::move(items));
  return d;
}

}  // namespace trine
