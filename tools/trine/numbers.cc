#include "numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "trine/base/error.h"

namespace trine::cli {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

template <class T>
bool parse_all(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }

// Reads the text once, left to right; lists of one depth must have one length.
class Reader {
 public:
  Reader(const IoInfo& info, const std::string& text) : info_(info), text_(text), rest_(text) {}

  void run() {
    value(0);
    skip_spaces();
    if (!rest_.empty()) unreadable();
  }

  std::vector<int64_t> whole;  // of integers and booleans
  std::vector<double> real;    // of other types
  Dims dims;                   // lengths of the lists, outermost first

 private:
  [[noreturn]] void unreadable() const {
    fail(
        fmt::format("input {}: '{}' for {}; accepted: file.npy, a .jpg or .png, rand, a number, true, [1,2,3], "
                    "[[1,2],[3,4]]",
                    info_.name, text_, info_.type.text()));
  }

  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }

  bool take(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void value(size_t depth) {
    if (!take('[')) {
      if (depth < dims.size() || (numbers_ && depth != depth_)) uneven();
      depth_ = depth;
      return number();
    }
    if (depth == kMaxRank) unreadable();
    const bool first = depth == dims.size();
    if (first && numbers_) uneven();
    if (first) dims.push_back(0);
    int64_t length = 0;
    for (; !take(']'); ++length) {
      if (length > 0 && !take(',')) unreadable();
      value(depth + 1);
    }
    if (first) dims[depth] = length;
    else if (dims[depth] != length) uneven();
  }

  [[noreturn]] void uneven() const {
    fail(fmt::format("input {}: '{}' has lists of different lengths; [[1,2],[3,4]] is accepted", info_.name, text_));
  }

  void number() {
    numbers_ = true;
    const std::string_view word = rest_.substr(0, rest_.find_first_of(",] \t"));
    if (word.empty()) unreadable();
    rest_.remove_prefix(word.size());
    if (is_whole(info_.type.dtype)) whole.push_back(whole_number(word));
    else real.push_back(real_number(word));
  }

  int64_t whole_number(std::string_view word) const {
    const DType dtype = info_.type.dtype;
    if (word == "true" || word == "false") return word == "true";
    const bool negative = word.starts_with("-");
    uint64_t size = 0;
    const std::string_view digits = word.substr(negative || word.starts_with("+") ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) unreadable();
    const bool fits = parse_all(digits, size);
    const auto most =
        negative ? static_cast<uint64_t>(0) - static_cast<uint64_t>(integer_min(dtype)) : integer_max(dtype);
    if (!fits || size > most) {
      fail(fmt::format("input {}: {} for {}; {} to {} are accepted", info_.name, word, info_.type.text(),
                       integer_min(dtype), integer_max(dtype)));
    }
    return static_cast<int64_t>(negative ? 0 - size : size);  // u64 keeps its bits
  }

  double real_number(std::string_view word) const {
    double value = 0;
    if (word == "true" || word == "false") return word == "true";
    if (!parse_all(word, value)) unreadable();
    return value;
  }

  const IoInfo& info_;
  const std::string& text_;
  std::string_view rest_;
  bool numbers_ = false;  // one was read: all stand as deep as it
  size_t depth_ = 0;
};

// Where a plain list of `numbers` goes.
Dims dims_of_list(const IoInfo& info, int64_t numbers, bool list) {
  const Shape& shape = info.type.shape;
  if (!shape.has_rank()) return list ? Dims{numbers} : Dims{};
  Dims dims(static_cast<size_t>(shape.rank()), 1);
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i].is_constant()) dims[static_cast<size_t>(i)] = shape[i].value();
    else open = i;
  }
  const int64_t fixed = element_count(dims);
  if (open >= 0 && fixed > 0) dims[static_cast<size_t>(open)] = numbers / fixed;
  if (element_count(dims) != numbers)
    fail(fmt::format("input {}: {} numbers for {}; {} are accepted", info.name, numbers, info.type.text(),
                     open < 0 ? fmt::format("{}", fixed) : fmt::format("multiples of {}", fixed)));
  return dims;
}

Dims dims_of_nested(const IoInfo& info, const Dims& dims) {
  const Shape& shape = info.type.shape;
  bool fits = !shape.has_rank() || shape.rank() == static_cast<int>(dims.size());
  for (int i = 0; fits && shape.has_rank() && i < shape.rank(); ++i)
    fits = !shape[i].is_constant() || shape[i].value() == dims[static_cast<size_t>(i)];
  if (!fits) {
    fail(fmt::format("input {}: lists of shape [{}] for {}; the declared shape is accepted, or one plain list",
                     info.name, to_string(dims), info.type.text()));
  }
  return dims;
}

}  // namespace

Tensor number_tensor(const IoInfo& info, const std::string& text) {
  if (!info.type.is_tensor() || info.type.dtype == DType::string || is_complex(info.type.dtype))
    fail(fmt::format("input {}: '{}' for {}; real numbers are read here, use the library for others", info.name, text,
                     info.type.text()));
  Reader reader(info, text);
  reader.run();
  const DType dtype = info.type.dtype;
  const auto numbers = static_cast<int64_t>(is_whole(dtype) ? reader.whole.size() : reader.real.size());
  const Dims dims =
      reader.dims.size() > 1 ? dims_of_nested(info, reader.dims) : dims_of_list(info, numbers, !reader.dims.empty());
  if (is_whole(dtype)) return Tensor::from_i64(dtype, dims, reader.whole);
  const Tensor tensor = Tensor::from_f64(dtype, dims, reader.real);
  const auto held = tensor.f64_values();
  for (size_t i = 0; i < held.size(); ++i) {
    if (std::isinf(held[i]) && !std::isinf(reader.real[i])) {
      fail(fmt::format("input {}: {:g} for {}; it is too large for {}", info.name, reader.real[i], info.type.text(),
                       name(dtype)));
    }
  }
  return tensor;
}

}  // namespace trine::cli
