#include "simt/compile/inline_ptx_text.h"

#include <fmt/format.h>

#include <cctype>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

using Kind = PtxOperand::Kind;

[[noreturn]] void refuse(std::string_view part) {
  throw Error(ErrorCode::unsupported, fmt::format("cpu: inline PTX '{}'; this is not understood", part));
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string without_comments(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view here = text.substr(i, 2);
    if (here == "//") i = std::min(text.find('\n', i), text.size());
    if (here == "/*") i = std::min(text.find("*/", i + 2), text.size()) + 1;
    if (i < text.size()) result += here == "//" || here == "/*" ? ' ' : text[i];
  }
  return result;
}

PtxOperand number(std::string_view text) {
  PtxOperand operand{.kind = Kind::integer, .text = std::string(text), .offset = {}};
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.starts_with("0f") || digits.starts_with("0F") || digits.starts_with("0d") || digits.starts_with("0D"))
    operand.kind = Kind::bits;
  else if (!digits.starts_with("0x") && !digits.starts_with("0X") && digits.find_first_of(".eE") != std::string::npos)
    operand.kind = Kind::real;
  for (char c : digits)
    if (!is_word(c) && c != '.' && c != '-' && c != '+') refuse(text);
  return operand;
}

PtxOperand address(std::string_view inner) {
  inner = trimmed(inner);
  const size_t plus = inner.find_first_of("+-");
  PtxOperand operand{.kind = Kind::address, .text = std::string(trimmed(inner.substr(0, plus))), .offset = "0"};
  if (plus != std::string::npos) {
    std::string_view rest = trimmed(inner.substr(plus + 1));
    if (rest.starts_with("+")) rest = trimmed(rest.substr(1));  // "+ +4"
    operand.offset = (inner[plus] == '-' ? "-" : "") + std::string(rest);
    if (rest.starts_with('-')) operand.offset = std::string(rest);
  }
  for (char c : operand.text + operand.offset)
    if (!is_word(c) && c != '-' && c != '.') refuse(inner);
  return operand;
}

PtxOperand operand_of(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) refuse("an operand that is empty");
  if (text == "_") return {.kind = Kind::sink, .text = {}, .offset = {}};
  if (text.front() == '[')
    return text.back() == ']' ? address(text.substr(1, text.size() - 2)) : (refuse(text), PtxOperand{});
  if (is_digit(text.front()) || text.front() == '-') return number(text);
  PtxOperand operand;
  if (text.front() == '!') {
    operand.negated = true;
    text = trimmed(text.substr(1));
  }
  operand.text = text;
  for (char c : text)
    if (!is_word(c) && c != '.') refuse(text);
  return operand;
}

// At commas and bars outside of brackets; what stands in braces is several.
std::vector<PtxOperand> operands_of(std::string_view text) {
  std::vector<PtxOperand> all;
  std::string part;
  bool in_brackets = false, in_braces = false;
  const auto finish = [&](bool grouped) {
    if (trimmed(part).empty()) return;
    all.push_back(operand_of(part));
    all.back().in_group = grouped;
    part.clear();
  };
  for (char c : text) {
    if (c == '[' || c == ']') in_brackets = c == '[';
    const bool separates = !in_brackets && (c == ',' || c == '|' || c == '{' || c == '}');
    if (!separates) {
      part += c;
      continue;
    }
    finish(in_braces);
    if (c == '{' || c == '}') in_braces = c == '{';
  }
  finish(in_braces);
  return all;
}

class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  std::vector<PtxLine> lines() {
    std::vector<PtxLine> all;
    for (skip(); at_ < text_.size(); skip()) {
      const char c = text_[at_];
      if (c == '{' || c == '}') {
        all.push_back(
            {.kind = c == '{' ? PtxLine::Kind::open : PtxLine::Kind::close, .name = {}, .guard = {}, .operands = {}});
        ++at_;
      } else if (c == ';') {
        ++at_;
      } else {
        all.push_back(statement());
      }
    }
    return all;
  }

 private:
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  std::string until(const char* stops) {
    const size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string part = text_.substr(at_, end - at_);
    at_ = end;
    return part;
  }

  PtxLine statement() {
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    size_t colon = end;
    while (colon < text_.size() && is_space(text_[colon])) ++colon;
    if (end > at_ && colon < text_.size() && text_[colon] == ':' && text_.substr(colon, 2) != "::") {
      PtxLine label{.kind = PtxLine::Kind::label, .name = text_.substr(at_, end - at_), .guard = {}, .operands = {}};
      at_ = colon + 1;
      return label;
    }
    const std::string whole = until(";");
    return whole.starts_with('.') ? declaration(whole) : instruction(whole);
  }

  static PtxLine declaration(std::string_view text) {
    std::string_view rest = text;
    if (!rest.starts_with(".reg")) refuse(text);
    rest = trimmed(rest.substr(4));
    if (!rest.starts_with('.')) refuse(text);
    const size_t end = rest.find_first_of(" \t\n");
    if (end == std::string::npos) refuse(text);
    PtxLine line{
        .kind = PtxLine::Kind::declaration, .name = std::string(rest.substr(1, end - 1)), .guard = {}, .operands = {}};
    for (std::string_view names = rest.substr(end); !names.empty();) {
      const size_t comma = std::min(names.find(','), names.size());
      add_names(trimmed(names.substr(0, comma)), line);
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return line;
  }

  // "r<4>" is r0 to r3.
  static void add_names(std::string_view name, PtxLine& line) {
    const size_t open = name.find('<');
    int count = 0;
    if (open != std::string::npos) {
      count = std::atoi(std::string(name.substr(open + 1)).c_str());
      if (count <= 0 || count > 4096) refuse(name);
      name = trimmed(name.substr(0, open));
    }
    for (char c : name)
      if (!is_word(c)) refuse(name);
    if (!count) line.operands.push_back({.text = std::string(name), .offset = {}});
    for (int i = 0; i < count; ++i)
      line.operands.push_back({.text = std::string(name) + std::to_string(i), .offset = {}});
  }

  static PtxLine instruction(std::string_view text) {
    PtxLine line;
    std::string_view rest = trimmed(text);
    if (rest.starts_with('@')) {
      rest = trimmed(rest.substr(1));
      line.guard_negated = rest.starts_with('!');
      if (line.guard_negated) rest = trimmed(rest.substr(1));
      const size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
      line.guard = rest.substr(0, end);
      rest = trimmed(rest.substr(end));
    }
    size_t end = 0;
    while (end < rest.size() && (is_word(rest[end]) || rest[end] == '.' || rest[end] == ':')) ++end;
    line.name = rest.substr(0, end);
    if (line.name.empty() || !std::isalpha(static_cast<unsigned char>(line.name[0]))) refuse(text);
    line.operands = operands_of(rest.substr(end));
    return line;
  }

  const std::string text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<PtxLine> parse_ptx(std::string_view text) { return Reader(without_comments(text)).lines(); }

}  // namespace trine::simt
