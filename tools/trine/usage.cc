#include "usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trine::cli {
namespace {

// Letters to add, drop, change or swap to get from one word to the other.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format("did you mean {}? ", near);
}

// No command was found: the first word is to blame.
std::string command_problem(const CLI::App& app, const std::vector<std::string>& words) {
  const auto commands = commands_of(app);
  const std::string accepted = fmt::format("the commands are {}", fmt::join(commands, ", "));
  if (words.empty()) return fmt::format("trine: no command; {}; see trine --help", accepted);
  if (words[0].starts_with("-")) {
    const std::string flag = words[0].substr(0, words[0].find('='));
    return fmt::format("trine: no flag '{}' before a command; {}trine COMMAND --help shows a command's flags, and {}",
                       flag, did_you_mean(flag, flags_of(app)), accepted);
  }
  return fmt::format("trine: no command '{}'; {}{}; see trine --help", words[0], did_you_mean(words[0], commands),
                     accepted);
}

std::string number_problem(const std::string& text, bool zero) {
  double value = -1;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && (zero ? value >= 0 : value > 0)) return "";
  return fmt::format("{}: a number {} is accepted", text, zero ? "of at least 0" : "above 0");
}

}  // namespace

std::string at_least_zero(const std::string& text) { return number_problem(text, true); }
std::string above_zero(const std::string& text) { return number_problem(text, false); }

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : known) {
    const bool begins = word.size() > 3 && name.starts_with(word);
    const size_t n = begins ? 1 : edits(word, name);
    if (n < fewest) fewest = n, best = name;
  }
  return best;
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  if (app.get_subcommands().empty()) return command_problem(app, words);
  const CLI::App& command = *app.get_subcommands().front();
  const std::string where = "trine " + command.get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const auto left = app.remaining(true);
    const std::string word = left.empty() ? "" : left[0].substr(0, left[0].find('='));
    if (word.starts_with("-"))
      return fmt::format("{}: no flag '{}'; {}see {} --help", where, word, did_you_mean(word, flags_of(command)),
                         where);
    return fmt::format("{}: '{}' is one argument too many; see {} --help", where, word, where);
  }
  std::string what = error.what();  // CLI11's own words
  while (!what.empty() && (what.back() == '.' || what.back() == '\n')) what.pop_back();
  return fmt::format("{}: {}; see {} --help", where, what, where);
}

}  // namespace trine::cli
