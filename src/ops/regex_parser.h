// RegexParser: RE2 syntax to NFA states. Every fragment has one entry and one exit state (a jump not yet aimed).
#pragma once

#include <string>

#include "ops/regex.h"

namespace trine {

class RegexParser {
 public:
  explicit RegexParser(std::string_view pattern);
  int parse();  // the entry state

  std::vector<Regex::State> states;

 private:
  using Kind = Regex::State::Kind;
  using Ranges = std::vector<Regex::Range>;
  struct Fragment {
    int in, out;
  };
  struct Flags {
    bool ignore_case = false, multi_line = false, dot_all = false;
  };

  Fragment alternation(int depth);
  Fragment sequence(int depth);
  Fragment repeated(int depth);
  Fragment atom(int depth);
  Fragment group(int depth);
  void read_flags();
  Fragment repeat(const Fragment& once, int first_state, int low, int high);
  Fragment copy_of(const Fragment& f, int from, int to);
  bool read_counts(int& low, int& high);
  int read_number();

  Ranges bracket_class();
  bool posix_class(Ranges& into);
  Ranges perl_class(char32_t name);
  Fragment escape();
  char32_t escaped_character(char32_t c);
  static Ranges normalized(Ranges ranges);
  static Ranges inverted(const Ranges& ranges);
  static Ranges both_cases(Ranges ranges);

  int add(Kind kind);
  Fragment single(Kind kind);
  Fragment take(Ranges set);
  Fragment join(const Fragment& a, const Fragment& b);
  bool at_end() const { return at_ == pattern_.size(); }
  char32_t peek(size_t ahead = 0) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : 0; }
  bool eat(char32_t c);
  char32_t next();
  [[noreturn]] void fail(const std::string& what) const;

  std::vector<char32_t> pattern_;
  std::string text_;
  size_t at_ = 0;
  Flags flags_;
};

}  // namespace trine
