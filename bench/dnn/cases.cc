#include "cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "batch_file.h"
#include "number_types.h"
#include "trine/base/error.h"

namespace trine::bench {
namespace {

namespace fs = std::filesystem;

std::string without_underscores(std::string text) {
  std::erase(text, '_');
  return text;
}

std::vector<fs::path> own_lists() {
  std::vector<fs::path> paths;
  for (const auto& file : fs::directory_iterator(fs::path(TRINE_SOURCE_DIR) / "bench" / "dnn" / "lists")) {
    paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<fs::path> paths_of(const std::string& list) {
  if (fs::is_regular_file(list)) return {list};
  const std::vector<fs::path> own = own_lists();
  if (list == "all") return own;
  std::vector<std::string> names;
  for (const fs::path& path : own) {
    names.push_back(path.filename().string());
    if (without_underscores(names.back()) == without_underscores(list)) return {path};
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--list {}; accepted: a file, all, or one of {}", list, fmt::join(names, ", ")));
}

// What is computed in f32 only stands in the first type.
Case in_types(const Entry& entry, const std::vector<std::string>& types) {
  if (types.empty()) return {entry};
  Case in_all(has_number_types(entry.driver) ? types.size() : 1, entry);
  for (size_t i = 0; i < in_all.size(); ++i) in_all[i].options["dt"] = types[i];
  return in_all;
}

}  // namespace

std::vector<Case> read_cases(const Wanted& wanted) {
  std::vector<Case> all;
  for (const std::string& list : wanted.lists) {
    for (const fs::path& path : paths_of(list)) {
      for (Entry& e : read_batch_file(path.string(), wanted.driver)) {
        e.list = path.filename().string();
        if (wanted.mb > 0) set_batch(e, wanted.mb);
        const bool fits = e.text.find(wanted.filter) != e.text.npos || e.name.find(wanted.filter) != e.name.npos;
        if (fits) all.push_back(in_types(e, wanted.types));
      }
    }
  }
  return all;
}

}  // namespace trine::bench
