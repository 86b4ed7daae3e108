// trine env
#include "trine/base/env.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "terminal.h"

namespace trine::cli {

std::function<int()> setup_env(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "report as JSON");
  return [json] {
    Table table({"variable", "now", "default", "meaning"});
    auto rows = nlohmann::ordered_json::array();
    for (const EnvVariable& v : env_variables()) {
      const std::string now = env_text(v.name);
      table.add({std::string(v.name), now, std::string(v.otherwise), std::string(v.meaning)});
      rows.push_back({{"name", v.name}, {"value", now}, {"default", v.otherwise}, {"meaning", v.meaning}});
    }
    fmt::print("{}", *json ? rows.dump(2) + "\n" : table.text());
    return 0;
  };
}

}  // namespace trine::cli
