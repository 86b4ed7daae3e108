// Element types: every standard ONNX type has one. Sub-byte types (u2, i2, u4, i4, f4e2m1, f6*) are held one element
// per byte in memory and packed only in files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trine {

enum class DType : uint8_t {
  none,
  f32,
  f64,
  f16,
  bf16,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  string,
  c64,
  c128,  // complex of two f32 / two f64
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
  i4,
  u4,
  f4e2m1,
  i2,
  u2,
  f6e2m3,
  f6e3m2,
};
constexpr int kDTypeCount = static_cast<int>(DType::f6e3m2) + 1;

// Bytes of one element in memory; 0 for string and none.
size_t byte_size(DType type);
// "f32", "i64", "bool", ...
std::string_view name(DType type);
std::optional<DType> dtype_from_name(std::string_view name);

bool is_float(DType type);    // f64, f32, f16, bf16, the f8, f6 and f4 formats
bool is_integer(DType type);  // signed and unsigned; not boolean
bool is_signed_integer(DType type);
bool is_complex(DType type);
// Smallest and largest value of an integer type, boolean being 0..1 (u64's largest is returned as is, in uint64_t).
int64_t integer_min(DType type);
uint64_t integer_max(DType type);

}  // namespace trine
