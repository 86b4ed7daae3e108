#include "trine/base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "trine/base/error.h"

namespace trine {
namespace {

TEST(Env, TableIsSortedAndExplained) {
  const std::set<std::string_view> of_others = {"HOME", "NO_COLOR", "XDG_CACHE_HOME"};
  const auto rows = env_variables();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(rows[i].name.starts_with("TRINE_") || of_others.contains(rows[i].name)) << rows[i].name;
    EXPECT_FALSE(rows[i].meaning.empty()) << rows[i].name;
    if (i > 0) {
      EXPECT_LT(rows[i - 1].name, rows[i].name);
    }
  }
}

TEST(Env, ListsAreSplitAtCommas) {
  setenv("TRINE_SKIP", "fold,,cse,", 1);
  EXPECT_EQ(env_list("TRINE_SKIP"), (std::vector<std::string>{"fold", "cse"}));
  unsetenv("TRINE_SKIP");
  EXPECT_TRUE(env_list("TRINE_SKIP").empty());
}

TEST(Env, IntegersAreChecked) {
  setenv("TRINE_DEBUG", "5x", 1);
  EXPECT_THROW(env_integer("TRINE_DEBUG"), Error);
  setenv("TRINE_DEBUG", "", 1);
  EXPECT_EQ(env_integer("TRINE_DEBUG"), 0);
  unsetenv("TRINE_DEBUG");
}

TEST(Env, RangesAreChecked) {
  const auto message = [](const char* name, const char* value) -> std::string {
    setenv(name, value, 1);
    try {
      check_environment();
    } catch (const Error& e) {
      unsetenv(name);
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      return e.what();
    }
    unsetenv(name);
    return "no error";
  };
  EXPECT_EQ(message("TRINE_SPIN_US", "-4"), "TRINE_SPIN_US: got '-4'; accepted is an integer of at least 0");
  EXPECT_EQ(message("TRINE_DEBUG", "x"), "TRINE_DEBUG: got 'x'; accepted is an integer from 0 to 5");
  EXPECT_EQ(message("TRINE_DEBUG", "6"), "TRINE_DEBUG: got '6'; accepted is an integer from 0 to 5");
  EXPECT_EQ(message("TRINE_MAX_MEM", "abc"), "TRINE_MAX_MEM: got 'abc'; accepted is an integer of at least 0");
  EXPECT_EQ(message("TRINE_MAX_MEM", "300"), "no error");
}

TEST(EnvDeathTest, AnUnlistedNameIsABug) { EXPECT_DEATH(env_text("TRINE_NO_SUCH"), "not in the table"); }

}  // namespace
}  // namespace trine
