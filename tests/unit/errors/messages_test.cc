// Every mistake of provoke.h gives the message that tests/errors/messages.txt holds. A line is `key: CODE message`,
// further lines of a message are indented. After a message was changed on purpose: UPDATE_GOLDEN=1
// build/bin/test_errors, then read the difference as a user would: what happened (with values), where, why, and what to
// do next.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "provoke.h"
#include "trine/base/error.h"

namespace trine::test {
namespace {

namespace fs = std::filesystem;
const std::string kGolden = TRINE_SOURCE_DIR "/tests/errors/messages.txt";
constexpr size_t kLongest = 600;

std::vector<Mistake> all_mistakes() {
  std::vector<Mistake> all;
  for (const auto& list : {model_mistakes(), graph_mistakes(), engine_mistakes(), command_mistakes()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::string message_of(const Mistake& mistake) {
  try {
    mistake.make();
  } catch (const Error& e) {
    return fmt::format("{} {}", e.code_text(), e.what());
  }
  return "no error";
}

std::string entry(const std::string& key, const std::string& message) {
  std::string text = key + ": ";
  for (char c : message) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text + "\n";
}

std::map<std::string, std::string> read_golden() {
  std::map<std::string, std::string> entries;
  std::ifstream file(kGolden);
  std::string key;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("    ")) key = line.substr(0, line.find(": "));
    entries[key] += line + "\n";
  }
  return entries;
}

// What the rubric asks for that a program can see.
void expect_readable(const std::string& key, const std::string& message) {
  SCOPED_TRACE(key + ": " + message);
  EXPECT_NE(message, "no error");
  EXPECT_TRUE(message.starts_with("TRN-"));
  EXPECT_NE(message.find(": "), std::string::npos) << "says not where";
  EXPECT_LT(message.size(), kLongest);
  for (const char* internal : {".cc", ".cpp", ".h:", "src/", "std::", "internal error", "Assertion", "exception"})
    EXPECT_EQ(message.find(internal), std::string::npos) << "shows the inside: " << internal;
  EXPECT_NE(message.back(), '.');
  EXPECT_NE(message.back(), '\n');
}

class Messages : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    folder_ = fs::temp_directory_path() / ("trine_messages_" + std::to_string(::getpid()));
    fs::create_directory(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  fs::path before_, folder_;
};

TEST_F(Messages, AreTheGoldenOnes) {
  const std::map<std::string, std::string> golden = read_golden();
  const char* flag = std::getenv("UPDATE_GOLDEN");
  const bool update = flag && std::string(flag) == "1";
  std::string text;
  std::set<std::string> keys;
  for (const Mistake& mistake : all_mistakes()) {
    EXPECT_TRUE(keys.insert(mistake.key).second) << mistake.key << " is there twice";
    const std::string message = message_of(mistake), got = entry(mistake.key, message);
    expect_readable(mistake.key, message);
    text += got;
    const auto it = golden.find(mistake.key);
    if (!update && (it == golden.end() || it->second != got))
      ADD_FAILURE() << "got:    " << got << "wanted: " << (it == golden.end() ? "(none)\n" : it->second)
                    << "if that is meant: UPDATE_GOLDEN=1 build/bin/test_errors";
  }
  EXPECT_GE(keys.size(), 60u);
  if (update) std::ofstream(kGolden) << text;
  else EXPECT_EQ(golden.size(), keys.size()) << "the golden file has entries that nothing provokes";
}

}  // namespace
}  // namespace trine::test
