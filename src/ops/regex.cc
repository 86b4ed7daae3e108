// Source: R. Cox, "Regular expression matching can be simple and fast" (2007); RE2 syntax page.
#include "ops/regex.h"

#include <algorithm>

#include "ops/regex_parser.h"
#include "ops/unicode.h"

namespace trine {
namespace {

constexpr char32_t kNone = 0xFFFFFFFF;  // before the first and after the last character

bool is_word(char32_t c) {
  return c < 128 && (c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'));
}

}  // namespace

Regex::Regex(std::string_view pattern) {
  RegexParser parser(pattern);
  start_ = parser.parse();
  states_ = std::move(parser.states);
}

// Adds to `list` every state that `state` reaches without taking a character.
void Regex::follow(int state, char32_t before, char32_t after, std::vector<int>& list, std::vector<bool>& seen) const {
  std::vector<int> stack{state};
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    if (at < 0 || seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    const State& s = states_[static_cast<size_t>(at)];
    bool passes = true;
    switch (s.kind) {
      using enum State::Kind;
      case set:
      case match: list.push_back(at); continue;
      case split: stack.push_back(s.other); break;
      case jump: break;
      case text_begin: passes = before == kNone; break;
      case text_end: passes = after == kNone; break;
      case line_begin: passes = before == kNone || before == '\n'; break;
      case line_end: passes = after == kNone || after == '\n'; break;
      case word: passes = is_word(before) != is_word(after); break;
      case not_word: passes = is_word(before) == is_word(after); break;
    }
    if (passes) stack.push_back(s.next);
  }
}

bool Regex::full_match(std::string_view text) const {
  const std::vector<char32_t> chars = decode_utf8(text);
  std::vector<int> now, next;
  std::vector<bool> seen(states_.size(), false);
  follow(start_, kNone, chars.empty() ? kNone : chars[0], now, seen);
  for (size_t i = 0; i < chars.size() && !now.empty(); ++i) {
    next.clear();
    std::fill(seen.begin(), seen.end(), false);
    const char32_t c = chars[i], after = i + 1 < chars.size() ? chars[i + 1] : kNone;
    for (int at : now) {
      const State& s = states_[static_cast<size_t>(at)];
      const auto inside = [&](const Range& r) { return c >= r.low && c <= r.high; };
      if (s.kind == State::Kind::set && std::any_of(s.set.begin(), s.set.end(), inside))
        follow(s.next, c, after, next, seen);
    }
    now.swap(next);
  }
  return std::any_of(now.begin(), now.end(),
                     [&](int at) { return states_[static_cast<size_t>(at)].kind == State::Kind::match; });
}

}  // namespace trine
