#include "graph/operand_types.h"

#include <fmt/format.h>

namespace trine {
namespace {

template <class... Types>
constexpr uint32_t set_of(Types... types) {
  return ((1u << static_cast<int>(types)) | ...);
}
static_assert(kDTypeCount <= 32);

constexpr uint32_t kHalfs = set_of(DType::f16, DType::bf16, DType::f32);
constexpr uint32_t kIndices = set_of(DType::i32, DType::i64);

struct Letter {
  char letter;
  char text[20];
  uint32_t set;
};
constexpr Letter kLetters[] = {
    {'f', "f16, bf16, f32, f64", kHalfs | set_of(DType::f64)},
    {'h', "f16, bf16, f32", kHalfs},
    {'i', "integers", kIndices | set_of(DType::i8, DType::i16, DType::u8, DType::u16, DType::u32, DType::u64)},
    {'x', "i32, i64", kIndices},
    {'l', "i64", set_of(DType::i64)},
    {'b', "bool", set_of(DType::boolean)},
    {'s', "string", set_of(DType::string)},
    {'e', "f8, f6, f4",
     set_of(DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f8e8m0, DType::f4e2m1,
            DType::f6e2m3, DType::f6e3m2)},
    {'q', "i4, u4, i2, u2", set_of(DType::i4, DType::u4, DType::i2, DType::u2)},
    {'c', "complex", set_of(DType::c64, DType::c128)},
    {'a', "any type", ~0u},
};

bool is_variable(char c) { return c >= 'A' && c <= 'Z'; }

uint32_t set_of_word(std::string_view word) {
  uint32_t set = 0;
  for (const Letter& l : kLetters)
    if (word.find(l.letter) != word.npos) set |= l.set;
  return set ? set : ~0u;  // a variable alone
}

std::string text_of_word(std::string_view word) {
  std::string out;
  for (const Letter& l : kLetters)
    if (word.find(l.letter) != word.npos) out += fmt::format("{}{}", out.empty() ? "" : ", ", l.text);
  return out;
}

// Takes the next word off `types`; the last one again and again where "..." follows it.
std::string_view next_word(std::string_view& types, std::string_view last) {
  if (types == "...") return last;
  const size_t end = std::min(types.find(' '), types.size());
  const std::string_view word = types.substr(0, end);
  types.remove_prefix(std::min(end + 1, types.size()));
  return word;
}

}  // namespace

std::string operand_problem(std::string_view types, int count, const std::function<Operand(int)>& operand) {
  struct Bound {
    int input = 0;
    DType dtype = DType::none;
  };
  Bound bound['Z' - 'A' + 1];
  std::string_view word;
  for (int i = 0; i < count && !types.empty(); ++i) {
    word = next_word(types, word);
    const Operand o = operand(i);
    if (word == "?" || o.kind == Type::Kind::none) continue;
    if (o.kind != Type::Kind::tensor)
      return fmt::format("input {} is {}; it must be a tensor", i,
                         o.kind == Type::Kind::sequence ? "a sequence" : "optional");
    if (o.dtype == DType::none) continue;
    if (!(set_of_word(word) & set_of(o.dtype)))
      return fmt::format("input {} is {}; accepted: {}", i, name(o.dtype), text_of_word(word));
    if (!is_variable(word[0])) continue;
    Bound& first = bound[word[0] - 'A'];
    if (first.dtype == DType::none) first = {i, o.dtype};
    const bool narrow = first.dtype == DType::f16 || first.dtype == DType::bf16;
    if (narrow && o.dtype == DType::f32 && word.ends_with('w')) continue;
    if (first.dtype != o.dtype)
      return fmt::format("inputs {} and {} are {} and {}; they must have the same type", first.input, i,
                         name(first.dtype), name(o.dtype));
  }
  return {};
}

}  // namespace trine
