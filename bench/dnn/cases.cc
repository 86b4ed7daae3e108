#include "cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "batch_file.h"
#include "trine/base/error.h"

namespace trine::bench {
namespace {

namespace fs = std::filesystem;

std::string without_underscores(std::string text) {
  std::erase(text, '_');
  return text;
}

std::string list_path(const std::string& list) {
  if (fs::is_regular_file(list)) return list;
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(fs::path(TRINE_SOURCE_DIR) / "bench" / "dnn" / "lists")) {
    names.push_back(file.path().filename().string());
    if (without_underscores(names.back()) == without_underscores(list)) return file.path().string();
  }
  std::sort(names.begin(), names.end());
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--list {}; accepted: a file, or one of {}", list, fmt::join(names, ", ")));
}

Case in_types(const Entry& entry, const std::vector<std::string>& types) {
  if (types.empty()) return {entry};
  Case in_all(types.size(), entry);
  for (size_t i = 0; i < types.size(); ++i) in_all[i].options["dt"] = types[i];
  return in_all;
}

}  // namespace

std::vector<Case> read_cases(const Wanted& wanted) {
  std::vector<Case> all;
  for (const std::string& list : wanted.lists) {
    const std::string path = list_path(list);
    for (Entry& e : read_batch_file(path, wanted.driver)) {
      e.list = fs::path(path).filename().string();
      if (wanted.mb > 0) set_batch(e, wanted.mb);
      const bool fits = e.text.find(wanted.filter) != e.text.npos || e.name.find(wanted.filter) != e.name.npos;
      if (fits) all.push_back(in_types(e, wanted.types));
    }
  }
  return all;
}

}  // namespace trine::bench
