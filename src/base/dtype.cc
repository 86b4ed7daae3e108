// The table of element types.
#include "trine/base/dtype.h"

#include <array>
#include <limits>

namespace trine {
namespace {

enum class Family : uint8_t { none, real, sint, uint, boolean, string, complex };

struct Row {
  std::string_view name;
  uint8_t bytes;
  Family family;
  uint8_t bits;  // of an integer
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"none", 0, Family::none, 0},       {"f32", 4, Family::real, 0},      {"f64", 8, Family::real, 0},
    {"f16", 2, Family::real, 0},        {"bf16", 2, Family::real, 0},     {"i8", 1, Family::sint, 8},
    {"i16", 2, Family::sint, 16},       {"i32", 4, Family::sint, 32},     {"i64", 8, Family::sint, 64},
    {"u8", 1, Family::uint, 8},         {"u16", 2, Family::uint, 16},     {"u32", 4, Family::uint, 32},
    {"u64", 8, Family::uint, 64},       {"bool", 1, Family::boolean, 1},  {"string", 0, Family::string, 0},
    {"c64", 8, Family::complex, 0},     {"c128", 16, Family::complex, 0}, {"f8e4m3fn", 1, Family::real, 0},
    {"f8e4m3fnuz", 1, Family::real, 0}, {"f8e5m2", 1, Family::real, 0},   {"f8e5m2fnuz", 1, Family::real, 0},
    {"f8e8m0", 1, Family::real, 0},     {"i4", 1, Family::sint, 4},       {"u4", 1, Family::uint, 4},
    {"f4e2m1", 1, Family::real, 0},     {"i2", 1, Family::sint, 2},       {"u2", 1, Family::uint, 2},
    {"f6e2m3", 1, Family::real, 0},     {"f6e3m2", 1, Family::real, 0},
}};

const Row& row(DType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

size_t byte_size(DType type) { return row(type).bytes; }
std::string_view name(DType type) { return row(type).name; }
bool is_float(DType type) { return row(type).family == Family::real; }
bool is_integer(DType type) { return row(type).family == Family::sint || row(type).family == Family::uint; }
bool is_signed_integer(DType type) { return row(type).family == Family::sint; }
bool is_complex(DType type) { return row(type).family == Family::complex; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kRows[static_cast<size_t>(i)].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

int64_t integer_min(DType type) {
  if (!is_signed_integer(type)) return 0;
  return type == DType::i64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (row(type).bits - 1));
}

uint64_t integer_max(DType type) {
  const int bits = row(type).bits - (is_signed_integer(type) ? 1 : 0);
  return bits >= 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << bits) - 1;
}

}  // namespace trine
