#include "graph_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "op_case.h"

namespace trine::test {
namespace {

void read_gives(GraphRun& run, std::string_view rest) {
  for (std::string word = next_word(rest); !word.empty(); word = next_word(rest)) {
    if (word == "within") {
      run.eps_count = std::stod(next_word(rest));
      next_word(rest);  // eps
    } else {
      run.gives.push_back(word);
    }
  }
}

// One line of a case; false for a line of its graph.
bool read_line(GraphCase& c, const std::string& text) {
  std::string_view rest = text;
  const std::string first = next_word(rest);
  const bool starts_run = first == "given" || c.runs.empty();
  if (first != "given" && first != "gives" && first != "error:") return false;
  if (starts_run) c.runs.emplace_back();
  GraphRun& run = c.runs.back();
  if (first == "given")
    for (std::string word = next_word(rest); !word.empty(); word = next_word(rest)) run.given.push_back(word);
  else if (first == "gives") read_gives(run, rest);
  else run.error = rest.substr(1);
  return true;
}

}  // namespace

std::vector<GraphCase> read_graph_cases(const std::string& folder) {
  std::vector<GraphCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    int line = 0;
    const size_t before = cases.size();
    for (std::string text; std::getline(file, text);) {
      ++line;
      if (text.starts_with("#")) continue;
      if (text.starts_with("case ")) {
        cases.push_back(
            {.file = entry.path().stem().string(), .why = text.substr(5), .graph = {}, .line = line, .runs = {}});
      } else if (cases.size() == before) {
        if (!text.empty()) throw std::runtime_error(entry.path().string() + ": text before the first case: " + text);
      } else if (!read_line(cases.back(), text)) {
        cases.back().graph += text + "\n";
      }
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const GraphCase& a, const GraphCase& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
  return cases;
}

}  // namespace trine::test
