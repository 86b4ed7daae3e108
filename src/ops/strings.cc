// String operators: StringConcat, StringSplit, StringNormalizer, RegexFullMatch.
#include <algorithm>
#include <set>

#include "ops/movement.h"
#include "ops/node_error.h"
#include "ops/regex.h"
#include "ops/shape_rules.h"
#include "ops/unicode.h"

namespace trine {
namespace {

void string_concat_reference(EvalContext& c) {
  const auto &a = c.tensor(0).strings(), &b = c.tensor(1).strings();
  const Dims dims = broadcast_dims(c.tensor(0).dims(), c.tensor(1).dims());
  std::vector<std::string> joined;
  for (Walk w(dims, {broadcast_strides(c.tensor(0).dims(), dims), broadcast_strides(c.tensor(1).dims(), dims)});
       !w.done(); w.next())
    joined.push_back(a[static_cast<size_t>(w.offset(0))] + b[static_cast<size_t>(w.offset(1))]);
  c.set(0, Tensor::of_strings(dims, std::move(joined)));
}

const OpDef kStringConcat = {.name = "string_concat",
                             .onnx = "StringConcat",
                             .doc = "y = a + b, broadcast",
                             .types = "s s",
                             .min_inputs = 2,
                             .max_inputs = 2,
                             .infer = infer_broadcast,
                             .reference = string_concat_reference};
const RegisterOp kRegisterStringConcat(kStringConcat);

void infer_string_split(InferContext& c) {
  const Shape& x = c.shape(0);
  Shape y = x;
  if (x.has_rank()) {
    std::vector<Dim> dims = x.dims();
    dims.push_back(c.fresh("parts"));
    y = Shape(std::move(dims));
  }
  c.set(0, DType::string, y);
  c.set(1, DType::i64, x);
}

// `most` splits at the delimiter; a negative `most` means no limit.
std::vector<std::string> split_at(const std::string& s, const std::string& delimiter, int64_t most) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t next = s.find(delimiter, at);
    if (next == std::string::npos) break;
    parts.push_back(s.substr(at, next - at));
    at = next + delimiter.size();
  }
  parts.push_back(s.substr(at));
  return parts;
}

// Runs of white space separate; the rest after the last allowed split keeps its inner and trailing white space.
std::vector<std::string> split_at_spaces(const std::string& s, int64_t most) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v";
  std::vector<std::string> parts;
  size_t at = s.find_first_not_of(kSpaces);
  while (at != std::string::npos) {
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) {
      parts.push_back(s.substr(at));
      break;
    }
    const size_t end = s.find_first_of(kSpaces, at);
    parts.push_back(s.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : s.find_first_not_of(kSpaces, end);
  }
  return parts;
}

void string_split_reference(EvalContext& c) {
  const std::string delimiter = c.attrs().string("delimiter");
  const int64_t most = c.attrs().integer("maxsplit", -1);
  std::vector<std::vector<std::string>> parts;
  std::vector<int64_t> counts;
  size_t longest = 0;
  for (const std::string& s : c.tensor(0).strings()) {
    parts.push_back(delimiter.empty() ? split_at_spaces(s, most) : split_at(s, delimiter, most));
    counts.push_back(static_cast<int64_t>(parts.back().size()));
    longest = std::max(longest, parts.back().size());
  }
  Dims dims = c.tensor(0).dims();
  dims.push_back(static_cast<int64_t>(longest));
  std::vector<std::string> padded(value_count(dims));
  for (size_t i = 0; i < parts.size(); ++i)
    std::move(parts[i].begin(), parts[i].end(), padded.begin() + static_cast<std::ptrdiff_t>(i * longest));
  c.set(0, Tensor::of_strings(dims, std::move(padded)));
  c.set(1, Tensor::from_i64(DType::i64, c.tensor(0).dims(), counts));
}

const OpDef kStringSplit = {
    .name = "string_split",
    .onnx = "StringSplit",
    .doc = "the parts of each string between delimiters, padded with empty strings; their number",
    .types = "s",
    .max_outputs = 2,
    .infer = infer_string_split,
    .reference = string_split_reference};
const RegisterOp kRegisterStringSplit(kStringSplit);

void infer_string_normalizer(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, DType::string, Shape());
  if (x.rank() != 1 && x.rank() != 2) c.fail("x is " + c.input(0).text() + "; it must be [C] or [1,C]");
  const Dim count = c.attrs().has("stopwords") ? c.fresh("words") : x[x.rank() - 1];
  c.set(0, DType::string, x.rank() == 1 ? Shape{count} : Shape{1, count});
}

// Words that are stop words go; the others change case. Nothing left gives one empty string.
void string_normalizer_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto& words = c.tensor(0).strings();
  if (x.rank() != 1 && !(x.rank() == 2 && x.dim(0) == 1)) c.fail("x is " + x.type_text() + "; it must be [C] or [1,C]");
  const std::string action = c.attrs().string("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    c.fail("case_change_action '" + action + "'; one of NONE, LOWER, UPPER");
  const bool exact = c.attrs().integer("is_case_sensitive") != 0;
  std::set<std::string> stop;
  for (const std::string& word : c.attrs().strings("stopwords")) stop.insert(exact ? word : to_lower(word));
  std::vector<std::string> kept;
  for (const std::string& word : words) {
    if (stop.contains(exact ? word : to_lower(word))) continue;
    kept.push_back(action == "LOWER" ? to_lower(word) : action == "UPPER" ? to_upper(word) : word);
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  c.set(0, Tensor::of_strings(x.rank() == 1 ? Dims{count} : Dims{1, count}, std::move(kept)));
}

const OpDef kStringNormalizer = {.name = "string_normalizer",
                                 .onnx = "StringNormalizer",
                                 .doc = "words without stop words, in lower or upper case",
                                 .types = "s",
                                 .infer = infer_string_normalizer,
                                 .reference = string_normalizer_reference};
const RegisterOp kRegisterStringNormalizer(kStringNormalizer);

void infer_regex_full_match(InferContext& c) {
  Regex checked(c.attrs().string("pattern"));
  c.set(0, DType::boolean, c.shape(0));
}

void regex_full_match_reference(EvalContext& c) {
  const Regex regex(c.attrs().string("pattern"));
  std::vector<int64_t> matches;
  for (const std::string& s : c.tensor(0).strings()) matches.push_back(regex.full_match(s));
  c.set(0, Tensor::from_i64(DType::boolean, c.tensor(0).dims(), matches));
}

const OpDef kRegexFullMatch = {.name = "regex_full_match",
                               .onnx = "RegexFullMatch",
                               .doc = "y = whether the whole string matches the RE2 pattern",
                               .types = "s",
                               .infer = infer_regex_full_match,
                               .reference = regex_full_match_reference};
const RegisterOp kRegisterRegexFullMatch(kRegexFullMatch);

}  // namespace
}  // namespace trine
