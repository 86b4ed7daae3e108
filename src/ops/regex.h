// Regex: full match of UTF-8 text against RE2 syntax, in time proportional to text length times pattern size (a
// Thompson NFA, all states advanced together). Not supported, and refused with an error: \p{...} classes, \C, and what
// RE2 refuses too (back references, look-around).
#pragma once

#include <string_view>
#include <vector>

namespace trine {

class Regex {
 public:
  explicit Regex(std::string_view pattern);  // throws Error{invalid_model} for a pattern that is not valid
  bool full_match(std::string_view text) const;

  struct Range {
    char32_t low, high;
  };
  struct State {
    enum class Kind : unsigned char {
      set,
      split,
      jump,
      text_begin,
      text_end,
      line_begin,
      line_end,
      word,
      not_word,
      match
    };
    Kind kind = Kind::match;
    int next = -1, other = -1;  // where it goes on; `other` of a split
    std::vector<Range> set;     // of a set: sorted code point ranges that it takes
  };

 private:
  friend class RegexParser;
  void follow(int state, char32_t before, char32_t after, std::vector<int>& list, std::vector<bool>& seen) const;

  std::vector<State> states_;
  int start_ = 0;
};

}  // namespace trine
