#include "ops/unicode.h"

namespace trine {
namespace {

// Code points [first, last] are upper case letters. `pairs`: upper and lower alternate, the upper ones being even (or
// odd, like `first`); else lower = upper + shift.
struct CaseRange {
  char32_t first, last;
  int shift;
  bool pairs;
};

constexpr CaseRange kRanges[] = {
    {'A', 'Z', 32, false},     {0xC0, 0xD6, 32, false},   {0xD8, 0xDE, 32, false},   {0x100, 0x12E, 1, true},
    {0x132, 0x136, 1, true},   {0x139, 0x147, 1, true},   {0x14A, 0x176, 1, true},   {0x178, 0x178, -121, false},
    {0x179, 0x17D, 1, true},   {0x386, 0x386, 38, false}, {0x388, 0x38A, 37, false}, {0x38C, 0x38C, 64, false},
    {0x38E, 0x38F, 63, false}, {0x391, 0x3A1, 32, false}, {0x3A3, 0x3AB, 32, false}, {0x400, 0x40F, 80, false},
    {0x410, 0x42F, 32, false}, {0x460, 0x480, 1, true},   {0x48A, 0x4BE, 1, true},   {0x4C1, 0x4CD, 1, true},
    {0x4D0, 0x52E, 1, true},   {0x531, 0x556, 48, false}, {0x1E00, 0x1E94, 1, true}, {0x1EA0, 0x1EFE, 1, true},
};

template <class Map>
std::string mapped(std::string_view text, Map map) {
  std::string result;
  for (char32_t c : decode_utf8(text)) append_utf8(result, map(c));
  return result;
}

// Length of the sequence that `lead` starts, 0 when it starts none.
int sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

}  // namespace

std::vector<char32_t> decode_utf8(std::string_view text) {
  std::vector<char32_t> result;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int length = sequence_length(lead);
    char32_t c = length == 1 ? lead : lead & (0x7F >> length);
    bool valid = length > 0 && i + static_cast<size_t>(length) <= text.size();
    for (int k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      valid = (next & 0xC0) == 0x80;
      c = c << 6 | (next & 0x3F);
    }
    constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    valid = valid && c >= kSmallest[length] && c <= 0x10FFFF && !(c >= 0xD800 && c < 0xE000);
    result.push_back(valid ? c : 0xFFFD);
    i += valid ? static_cast<size_t>(length) : 1;
  }
  return result;
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  constexpr unsigned char kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLead[length] | (c >> (6 * (length - 1))));
  for (int k = length - 2; k >= 0; --k) text += static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3F));
}

char32_t to_lower(char32_t c) {
  for (const CaseRange& r : kRanges)
    if (c >= r.first && c <= r.last && (!r.pairs || (c - r.first) % 2 == 0))
      return static_cast<char32_t>(static_cast<int>(c) + r.shift);
  return c;
}

char32_t to_upper(char32_t c) {
  if (c == 0x3C2) return 0x3A3;  // final sigma
  for (const CaseRange& r : kRanges) {
    const auto upper = static_cast<char32_t>(static_cast<int>(c) - r.shift);
    if (upper >= r.first && upper <= r.last && (!r.pairs || (upper - r.first) % 2 == 0)) return upper;
  }
  return c;
}

std::string to_lower(std::string_view text) {
  return mapped(text, [](char32_t c) { return to_lower(c); });
}

std::string to_upper(std::string_view text) {
  return mapped(text, [](char32_t c) { return to_upper(c); });
}

}  // namespace trine
