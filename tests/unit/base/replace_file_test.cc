// What saving a file may replace, and what it leaves as it is.
#include "trine/base/replace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "trine/base/error.h"

namespace trine {
namespace {

namespace fs = std::filesystem;

struct ReplaceFile : testing::Test {
  const fs::path folder = fs::path(testing::TempDir()) / ("trine_replace_" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directory(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }
};

void write(const std::string& path, const std::string& text) {
  replace_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string message_of(const std::string& path) {
  try {
    write(path, "x");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::io);
    return e.what();
  }
  return "no error";
}

TEST_F(ReplaceFile, NewAndOldFilesAndNothingIsLeftBeside) {
  write(at("f"), "one");
  ::chmod(at("f").c_str(), 0640);
  write(at("f"), "two");
  EXPECT_EQ(read(at("f")), "two");
  struct stat status{};
  ASSERT_EQ(::stat(at("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_F(ReplaceFile, ALinkStaysAndWhatItNamesIsWritten) {
  fs::create_directory(folder / "deep");
  write(at("deep/target"), "old");
  fs::create_symlink("deep/target", at("link"));
  fs::create_symlink("link", at("link_to_link"));
  fs::create_symlink("deep/new", at("dangling"));
  write(at("link_to_link"), "text");
  write(at("dangling"), "more");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::is_symlink(at("link_to_link")));
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  EXPECT_EQ(read(at("deep/target")), "text");
  EXPECT_EQ(read(at("deep/new")), "more");
}

TEST_F(ReplaceFile, DevicesStayDevices) {
  // A node of our own where we may make one: a wrong rename must not cost the machine its /dev/null.
  std::string null = at("null");
  if (::mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) null = "/dev/null";
  if (::access(null.c_str(), W_OK) != 0 || null == "/dev/null") GTEST_SKIP() << "no right to make a device node";
  const int probe = ::open(null.c_str(), O_WRONLY);
  if (probe < 0) GTEST_SKIP() << "device nodes do not work in this folder";
  ::close(probe);
  write(null, "text");
  EXPECT_TRUE(fs::is_character_file(null));
  ASSERT_EQ(::mknod(at("full").c_str(), S_IFCHR | 0666, makedev(1, 7)), 0);
  EXPECT_EQ(message_of(at("full")), at("full") +
                                        ": cannot write (No space left on device); give a path in a folder "
                                        "that exists and has room");
  EXPECT_TRUE(fs::is_character_file(at("full")));
}

TEST_F(ReplaceFile, APipeIsWrittenThroughWhenSomebodyReads) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(message_of(at("pipe")), at("pipe") + ": cannot write (nobody reads it); give a path of a regular file");
  const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write(at("pipe"), "text");
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 4);
  EXPECT_STREQ(got, "text");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(ReplaceFile, FoldersAndProtectedFilesAreRefusedEvenForRoot) {
  EXPECT_EQ(message_of(folder.string()), folder.string() + ": cannot write (a folder); give the path of a file");
  write(at("kept"), "old");
  ::chmod(at("kept").c_str(), 0444);
  EXPECT_EQ(message_of(at("kept")),
            at("kept") + ": cannot write (write-protected); give another path, or allow it with chmod u+w");
  EXPECT_EQ(read(at("kept")), "old");
  EXPECT_THROW(check_replaceable(at("no/such/folder")), Error);
  EXPECT_NO_THROW(check_replaceable(at("new")));
  EXPECT_FALSE(fs::exists(at("new")));
}

}  // namespace
}  // namespace trine
