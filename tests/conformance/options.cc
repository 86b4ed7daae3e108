#include "options.h"

#include <fmt/format.h>

#include <charconv>

#include "trine/base/error.h"

namespace trine::conformance {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

template <class T>
T number(const std::string& name, const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) fail(fmt::format("{} {}: a number is wanted", name, text));
  return value;
}

void set(const Option& option, const std::string& text) {
  if (auto* const* s = std::get_if<std::string*>(&option.value)) **s = text;
  else if (auto* const* u = std::get_if<uint64_t*>(&option.value)) **u = number<uint64_t>(option.name, text);
  else *std::get<double*>(option.value) = number<double>(option.name, text);
}

const Option& find(std::initializer_list<Option> options, const std::string& name) {
  std::string names;
  for (const Option& o : options) {
    if (name == o.name) return o;
    names += std::string(names.empty() ? "" : ", ") + o.name;
  }
  fail(fmt::format("{}: no such option; accepted: {}", name, names));
}

}  // namespace

std::string read_options(int argc, char** argv, std::initializer_list<Option> options) {
  std::string folder;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      if (!folder.empty()) fail(fmt::format("{}: one folder of cases is wanted, {} is given too", word, folder));
      folder = word;
      continue;
    }
    const Option& option = find(options, word);
    if (i + 1 == argc) fail(word + ": needs a value");
    set(option, argv[++i]);
  }
  if (folder.empty()) fail("give the folder that onnx_backend.py wrote");
  return folder;
}

}  // namespace trine::conformance
