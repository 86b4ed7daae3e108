#include "ops/regex_parser.h"

#include <algorithm>
#include <iterator>

#include "ops/unicode.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr int kMaxStates = 20000, kMaxRepeat = 1000, kMaxDepth = 200;
constexpr char32_t kLast = 0x10FFFF;

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_letter(char32_t c) { return c < 128 && (c | 32) >= 'a' && (c | 32) <= 'z'; }

int hex_digit(char32_t c) {
  if (is_digit(c)) return static_cast<int>(c - '0');
  return c < 128 && (c | 32) >= 'a' && (c | 32) <= 'f' ? static_cast<int>((c | 32) - 'a') + 10 : -1;
}

struct NamedClass {
  std::string_view name;
  std::vector<Regex::Range> set;
};

const std::vector<NamedClass>& posix_classes() {
  static const std::vector<NamedClass> classes = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                                  {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                                  {"ascii", {{0, 0x7F}}},
                                                  {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                                  {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
                                                  {"digit", {{'0', '9'}}},
                                                  {"graph", {{'!', '~'}}},
                                                  {"lower", {{'a', 'z'}}},
                                                  {"print", {{' ', '~'}}},
                                                  {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                                  {"space", {{'\t', '\r'}, {' ', ' '}}},
                                                  {"upper", {{'A', 'Z'}}},
                                                  {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
                                                  {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  return classes;
}

// \Q...\E as single escaped characters.
std::vector<char32_t> without_quotes(const std::vector<char32_t>& pattern) {
  std::vector<char32_t> result;
  bool quoted = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char32_t c = pattern[i], following = i + 1 < pattern.size() ? pattern[i + 1] : 0;
    if (c == '\\' && following == (quoted ? 'E' : 'Q')) {
      quoted = !quoted;
      ++i;
      continue;
    }
    if (quoted && c < 128 && !is_letter(c) && !is_digit(c)) result.push_back('\\');
    result.push_back(c);
    if (!quoted && c == '\\' && i + 1 < pattern.size()) result.push_back(pattern[++i]);  // "\\Q" is no quote
  }
  return result;
}

}  // namespace

RegexParser::RegexParser(std::string_view pattern) : pattern_(without_quotes(decode_utf8(pattern))), text_(pattern) {}

void RegexParser::fail(const std::string& what) const {
  throw Error(ErrorCode::invalid_model, "regex '" + text_ + "', character " + std::to_string(at_) + ": " + what);
}

bool RegexParser::eat(char32_t c) {
  if (at_end() || pattern_[at_] != c) return false;
  ++at_;
  return true;
}

char32_t RegexParser::next() {
  if (at_end()) fail("the pattern ends too early");
  return pattern_[at_++];
}

int RegexParser::add(Kind kind) {
  if (states.size() >= kMaxStates) fail("the pattern is too large; at most 20000 states");
  states.emplace_back();
  states.back().kind = kind;
  return static_cast<int>(states.size()) - 1;
}

RegexParser::Fragment RegexParser::single(Kind kind) {
  const int in = add(kind), out = add(Kind::jump);
  states[static_cast<size_t>(in)].next = out;
  return {in, out};
}

RegexParser::Fragment RegexParser::take(Ranges set) {
  const Fragment f = single(Kind::set);
  states[static_cast<size_t>(f.in)].set = flags_.ignore_case ? both_cases(std::move(set)) : std::move(set);
  return f;
}

RegexParser::Fragment RegexParser::join(const Fragment& a, const Fragment& b) {
  states[static_cast<size_t>(a.out)].next = b.in;
  return {a.in, b.out};
}

int RegexParser::parse() {
  const Fragment all = alternation(0);
  if (!at_end()) fail("unexpected ')'");
  states[static_cast<size_t>(all.out)].next = add(Kind::match);
  return all.in;
}

RegexParser::Fragment RegexParser::alternation(int depth) {
  if (depth > kMaxDepth) fail("groups are nested too deep");
  Fragment all = sequence(depth);
  while (eat('|')) {
    const Fragment other = sequence(depth);
    const int split = add(Kind::split), out = add(Kind::jump);
    states[static_cast<size_t>(split)].next = all.in;
    states[static_cast<size_t>(split)].other = other.in;
    states[static_cast<size_t>(all.out)].next = out;
    states[static_cast<size_t>(other.out)].next = out;
    all = {split, out};
  }
  return all;
}

RegexParser::Fragment RegexParser::sequence(int depth) {
  Fragment all = single(Kind::jump);
  while (!at_end() && peek() != '|' && peek() != ')') all = join(all, repeated(depth));
  return all;
}

int RegexParser::read_number() {
  int n = 0;
  while (!at_end() && is_digit(peek())) {
    n = n * 10 + static_cast<int>(next() - '0');
    if (n > kMaxRepeat) fail("a repeat count is above 1000");
  }
  return n;
}

// {n}, {n,} or {n,m}; anything else is a literal brace.
bool RegexParser::read_counts(int& low, int& high) {
  const size_t start = at_;
  if (!eat('{')) return false;
  if (!at_end() && is_digit(peek())) {
    low = read_number();
    high = low;
    if (eat(',')) high = !at_end() && is_digit(peek()) ? read_number() : -1;
    if (eat('}')) {
      if (high >= 0 && high < low) fail("a repeat count {n,m} has m < n");
      return true;
    }
  }
  at_ = start;
  return false;
}

RegexParser::Fragment RegexParser::repeated(int depth) {
  const int first = static_cast<int>(states.size());
  Fragment f = atom(depth);
  bool again = false;
  while (true) {
    int low = 0, high = -1;
    if (eat('+')) low = 1;
    else if (eat('?')) high = 1;
    else if (!eat('*') && !read_counts(low, high)) return f;
    if (again) fail("a repeat follows a repeat");
    again = true;
    eat('?');  // "as few as possible" makes no difference to whether the whole text matches
    f = repeat(f, first, low, high);
  }
}

// States [from, to) once more.
RegexParser::Fragment RegexParser::copy_of(const Fragment& f, int from, int to) {
  const int shift = static_cast<int>(states.size()) - from;
  for (int i = from; i < to; ++i) {
    const Regex::State original = states[static_cast<size_t>(i)];
    Regex::State& copy = states[static_cast<size_t>(add(original.kind))];
    copy = original;
    if (copy.next >= 0) copy.next += shift;
    if (copy.other >= 0) copy.other += shift;
  }
  return {f.in + shift, f.out + shift};
}

RegexParser::Fragment RegexParser::repeat(const Fragment& once, int from, int low, int high) {
  const int to = static_cast<int>(states.size());
  const int copies = high < 0 ? std::max(low, 1) : high;
  std::vector<Fragment> parts{once};
  for (int i = 1; i < copies; ++i) parts.push_back(copy_of(once, from, to));
  Fragment all = single(Kind::jump);
  const int end = add(Kind::jump);
  for (int i = 0; i < copies; ++i) {
    if (i >= low) {  // this and the later copies may be left out
      const int split = add(Kind::split);
      states[static_cast<size_t>(split)].other = end;
      states[static_cast<size_t>(split)].next = parts[static_cast<size_t>(i)].in;
      states[static_cast<size_t>(all.out)].next = split;
      all.out = parts[static_cast<size_t>(i)].out;
    } else {
      all = join(all, parts[static_cast<size_t>(i)]);
    }
  }
  if (high < 0) {  // the last copy may come again
    const int split = add(Kind::split);
    states[static_cast<size_t>(split)].next = parts.back().in;
    states[static_cast<size_t>(split)].other = end;
    states[static_cast<size_t>(all.out)].next = split;
  } else {
    states[static_cast<size_t>(all.out)].next = end;
  }
  return {all.in, end};
}

RegexParser::Fragment RegexParser::atom(int depth) {
  const char32_t c = next();
  switch (c) {
    case '(': return group(depth);
    case '[': return take(bracket_class());
    case '\\': return escape();
    case '.': return take(flags_.dot_all ? Ranges{{0, kLast}} : Ranges{{0, '\n' - 1}, {'\n' + 1, kLast}});
    case '^': return single(flags_.multi_line ? Kind::line_begin : Kind::text_begin);
    case '$': return single(flags_.multi_line ? Kind::line_end : Kind::text_end);
    case '*':
    case '+':
    case '?': fail("nothing to repeat");
    default: return take({{c, c}});
  }
}

// After "(?": flags up to ':' (a group follows) or ')' (they hold for the rest of this group).
void RegexParser::read_flags() {
  bool on = true;
  while (peek() != ':' && peek() != ')') {
    switch (next()) {
      case '-': on = false; break;
      case 'i': flags_.ignore_case = on; break;
      case 'm': flags_.multi_line = on; break;
      case 's': flags_.dot_all = on; break;
      case 'U': break;  // swaps greedy and not: no difference to a full match
      default: fail("a group '(?' is of no kind that RE2 knows");
    }
    if (at_end()) fail("a group is not closed");
  }
}

RegexParser::Fragment RegexParser::group(int depth) {
  const Flags outer = flags_;
  if (eat('?')) {
    const bool named = peek() == '<' ? peek(1) != '=' && peek(1) != '!' : peek() == 'P' && peek(1) == '<';
    if (named) {
      while (next() != '>') {
      }
    } else {
      read_flags();
      if (eat(')')) return single(Kind::jump);
      eat(':');
    }
  }
  const Fragment f = alternation(depth + 1);
  if (!eat(')')) fail("a group is not closed");
  flags_ = outer;
  return f;
}

RegexParser::Ranges RegexParser::normalized(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  Ranges merged;
  for (const Regex::Range& r : ranges) {
    if (!merged.empty() && r.low <= merged.back().high + 1) merged.back().high = std::max(merged.back().high, r.high);
    else merged.push_back(r);
  }
  return merged;
}

RegexParser::Ranges RegexParser::inverted(const Ranges& ranges) {
  Ranges result;
  char32_t low = 0;
  for (const Regex::Range& r : normalized(ranges)) {
    if (r.low > low) result.push_back({low, r.low - 1});
    low = r.high + 1;
  }
  if (low <= kLast) result.push_back({low, kLast});
  return result;
}

RegexParser::Ranges RegexParser::both_cases(Ranges ranges) {
  constexpr char32_t kCasedEnd = 0x1F00;  // beyond it our tables know no case
  Ranges all = ranges;
  for (const Regex::Range& r : ranges)
    for (char32_t c = r.low; c <= std::min(r.high, kCasedEnd); ++c) {
      if (const char32_t lower = to_lower(c); lower != c) all.push_back({lower, lower});
      if (const char32_t upper = to_upper(c); upper != c) all.push_back({upper, upper});
    }
  return normalized(std::move(all));
}

RegexParser::Ranges RegexParser::perl_class(char32_t name) {
  Ranges set;
  switch (name) {
    case 'd':
    case 'D': set = {{'0', '9'}}; break;
    case 's':
    case 'S': set = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}; break;
    case 'w':
    case 'W': set = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}; break;
    case 'p':
    case 'P':
    case 'C': fail("\\p, \\P and \\C are not supported; list the characters in [...]");
    default: return {};
  }
  return name < 'a' ? inverted(set) : set;
}

// The character that \c stands for.
char32_t RegexParser::escaped_character(char32_t c) {
  switch (c) {
    case 'a': return '\a';
    case 'f': return '\f';
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'v': return '\v';
    case 'x': {
      const bool braces = eat('{');
      char32_t value = 0;
      int digits = 0;
      while (!at_end() && hex_digit(peek()) >= 0 && digits < (braces ? 6 : 2)) {
        value = value * 16 + static_cast<char32_t>(hex_digit(next()));
        ++digits;
      }
      if ((braces && !eat('}')) || digits < (braces ? 1 : 2) || value > kLast)
        fail("\\x needs two hex digits, or {...}");
      return value;
    }
    case '0': {
      char32_t value = 0;
      for (int i = 0; i < 2 && !at_end() && peek() >= '0' && peek() <= '7'; ++i) value = value * 8 + (next() - '0');
      return value;
    }
    default: break;
  }
  if (is_digit(c)) fail("back references are not supported (by RE2 neither)");
  if (is_letter(c)) fail("unknown escape");
  return c;
}

RegexParser::Fragment RegexParser::escape() {
  const char32_t c = next();
  switch (c) {
    case 'A': return single(Kind::text_begin);
    case 'z': return single(Kind::text_end);
    case 'b': return single(Kind::word);
    case 'B': return single(Kind::not_word);
    default: break;
  }
  if (Ranges set = perl_class(c); !set.empty()) return take(std::move(set));
  const char32_t literal = escaped_character(c);
  return take({{literal, literal}});
}

// [:name:] inside a bracket.
bool RegexParser::posix_class(Ranges& into) {
  if (peek() != '[' || peek(1) != ':') return false;
  const size_t start = at_;
  at_ += 2;
  const bool negated = eat('^');
  std::string name;
  while (!at_end() && is_letter(peek())) name += static_cast<char>(next());
  if (!(eat(':') && eat(']'))) {
    at_ = start;
    return false;
  }
  for (const NamedClass& known : posix_classes())
    if (known.name == name) {
      const Ranges set = negated ? inverted(known.set) : known.set;
      into.insert(into.end(), set.begin(), set.end());
      return true;
    }
  fail("unknown class [:" + name + ":]");
}

RegexParser::Ranges RegexParser::bracket_class() {
  const bool negated = eat('^');
  Ranges set;
  bool first = true;
  while (first || peek() != ']' || at_end()) {
    first = false;
    if (posix_class(set)) continue;
    char32_t low = next();
    if (low == '\\') {
      const char32_t name = next();
      if (const Ranges named = perl_class(name); !named.empty()) {
        set.insert(set.end(), named.begin(), named.end());
        continue;
      }
      low = escaped_character(name);
    }
    char32_t high = low;
    if (peek() == '-' && at_ + 1 < pattern_.size() && peek(1) != ']') {
      next();
      high = next();
      if (high == '\\') high = escaped_character(next());
      if (high < low) fail("a range runs backwards");
    }
    set.push_back({low, high});
  }
  next();
  if (flags_.ignore_case) set = both_cases(std::move(set));
  return negated ? inverted(set) : normalized(std::move(set));
}

}  // namespace trine
