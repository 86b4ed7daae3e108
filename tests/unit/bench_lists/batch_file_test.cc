// The state machine of options, comments, continued tokens, lists within lists.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "read_one.h"
#include "to_problem.h"

namespace trine::bench {
namespace {

constexpr const char* kSmall = "ic1oc1ih8kh3";

TEST(BatchFile, options_are_a_state) {
  const auto all = read_batch_text(
      "--dir=BWD_D --mb=0 ic1oc1ih8kh3\n"
      "--dir=FWD_I ic2oc1ih8kh3\n"
      "--reset ic3oc1ih8kh3\n",
      "list", Driver::conv);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].option("dir", ""), "BWD_D");
  EXPECT_EQ(all[1].option("dir", ""), "FWD_I");
  EXPECT_EQ(all[2].option("dir", "FWD_B"), "FWD_B");
  EXPECT_EQ(all[2].line, 3);
}

TEST(BatchFile, lists_of_values_multiply) {
  const auto all =
      read_batch_text("--dir=FWD_B,BWD_D --attr-post-ops=,relu,sum:0.5+relu ic1oc1ih8kh3", "list", Driver::conv);
  ASSERT_EQ(all.size(), 6U);
  std::set<std::pair<std::string, std::string>> seen;
  for (const Entry& e : all) seen.insert({e.option("dir", ""), e.option("attr-post-ops", "?")});
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_TRUE(seen.contains({"BWD_D", "sum:0.5+relu"}));
  EXPECT_TRUE(seen.contains({"FWD_B", ""}));
}

TEST(BatchFile, commas_of_some_options_are_their_own) {
  const Entry e = read_one("--skip-impl=ref,x64:gemm --perf-template=%engine%,%impl% ic1oc1ih8kh3");
  EXPECT_EQ(e.option("skip-impl", ""), "ref,x64:gemm");
  EXPECT_EQ(e.option("perf-template", ""), "%engine%,%impl%");
}

TEST(BatchFile, reset_keeps_what_belongs_to_the_measurement) {
  const Entry e = read_one("--perf-template=csv --dt=bf16 --bia_dt=f32 --reset ic1oc1ih8kh3");
  EXPECT_EQ(e.option("perf-template", ""), "csv");
  EXPECT_EQ(e.option("dt", "f32"), "f32");
  EXPECT_EQ(read_one("--bia_dt=f32 ic1oc1ih8kh3").option("bia-dt", ""), "f32");  // either spelling
}

TEST(BatchFile, mb_replaces_the_batch_size) {
  EXPECT_EQ(read_one("--mb=7 mb3ic1oc1ih8kh3").sizes.mb, 7);
  EXPECT_EQ(read_one("--mb=0 mb3ic1oc1ih8kh3").sizes.mb, 3);
}

TEST(BatchFile, comments_and_continued_tokens) {
  const auto all = read_batch_text(
      "# ic9oc9ih8kh3 --dir=WRONG\n"
      "ic1oc1ih8kh3 # the rest is nothing: ic2oc1ih8kh3\n"
      "ic3oc1\\\n   ih8kh3n\"glued*2\"\n"
      "--attr-post-ops=relu\\\n+sum ic4oc1ih8\\\nkh3\\",
      "list", Driver::conv);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].line, 2);
  EXPECT_EQ(all[1].sizes.ic, 3);
  EXPECT_EQ(all[1].name, "glued");
  EXPECT_EQ(all[1].line, 3);
  EXPECT_EQ(all[2].option("attr-post-ops", ""), "relu+sum");
  EXPECT_EQ(all[2].sizes.kernel[1], 3);
}

TEST(BatchFile, drivers_are_named_in_the_list_or_by_its_folder) {
  const auto all =
      read_batch_text("--dt=f32 ic1oc1ih8kh3 --matmul 2x3:3x4 --softmax --axis=0 2x3 --rnn --alg=LBR_GRU sic8",
                      "somewhere/conv/shapes", Driver::none);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].driver, Driver::conv);
  EXPECT_EQ(all[1].driver, Driver::matmul);
  EXPECT_FALSE(all[1].options.contains("dt"));  // another driver, another state
  EXPECT_EQ(all[2].option("axis", ""), "0");
  EXPECT_EQ(all[3].driver, Driver::rnn);
}

TEST(BatchFile, refusals) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--dir=SIDEWAYS", "list:1: --dir=SIDEWAYS: 'SIDEWAYS'; accepted: FWD_B FWD_D"},
      {"--alg=avg_p", "'avg_p'; accepted: direct wino auto"},
      {"--frobnicate=1", "no such option; accepted: --reset, --batch=FILE"},
      {"--dt", "no value; accepted: --dt=VALUE"},
      {"--batch=missing_list", "no such list"},
      {"-dt=f32", "accepted: an option --NAME=VALUE"},
      {"--mb=many ic1oc1ih8kh3", "no size at character 1"},
  };
  for (const auto& [text, what] : wrong)
    EXPECT_NE(refusal(text).find(what), std::string::npos) << text << ": " << refusal(text);
  EXPECT_NE(refusal(kSmall, Driver::none).find("no driver yet"), std::string::npos);
}

TEST(BatchFile, combinations_are_bounded) {
  std::string text;
  for (const char* option : {"dt", "stag", "wtag", "dtag"}) {
    text += fmt::format("--{}=a", option);
    for (int i = 0; i < 20; ++i) text += ",a";
    text += "\n";
  }
  EXPECT_NE(refusal(text + kSmall).find("more than 4096 combinations"), std::string::npos);
}

class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / "trine_lists") {
    std::filesystem::create_directories(path_ / "conv");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

// benchdnn's settings are one static object of the driver: its harness lists set options and include plain shapes.
TEST(BatchFile, lists_within_lists_share_the_state) {
  Folder folder;
  folder.write("conv/inner", "ic2oc1ih8kh3 --dir=BWD_D ic4oc1ih8kh3");
  const auto all =
      read_batch_file(folder.write("conv/outer", "--dt=bf16 --dir=FWD_D ic1oc1ih8kh3 --batch=inner ic3oc1ih8kh3"));
  ASSERT_EQ(all.size(), 4U);
  const char* directions[] = {"FWD_D", "FWD_D", "BWD_D", "BWD_D"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].option("dir", ""), directions[i]) << i;
    EXPECT_EQ(all[i].option("dt", ""), "bf16") << i;
    EXPECT_EQ(all[i].driver, Driver::conv) << i;
  }
  EXPECT_TRUE(all[1].file.ends_with("inner"));
}

TEST(BatchFile, an_included_list_of_another_driver_leaves_the_state) {
  Folder folder;
  folder.write("conv/inner", "--matmul --dt=u8:s8:u8 2x3:3x4");
  const auto all = read_batch_file(folder.write("conv/outer", "--dir=FWD_D --batch=inner ic3oc1ih8kh3"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].driver, Driver::matmul);
  EXPECT_EQ(all[0].option("dir", "none"), "none");
  EXPECT_EQ(all[1].driver, Driver::conv);
  EXPECT_EQ(all[1].option("dir", ""), "FWD_D");
  EXPECT_EQ(all[1].option("dt", "none"), "none");
}

TEST(BatchFile, a_list_that_includes_itself_ends) {
  Folder folder;
  const std::string path = folder.write("conv/loop", "--batch=loop");
  try {
    read_batch_file(path);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("more than 16 deep"), std::string::npos) << e.what();
  }
}

// Pieces of lists at random, and single characters changed: an Error or entries, nothing else.
TEST(BatchFile, hostile_texts_are_errors) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::minstd_rand random(seed);
  const std::vector<std::string> pieces = {"ic",
                                           "oc",
                                           "ih",
                                           "kh",
                                           "sh",
                                           "dh",
                                           "ph",
                                           "g",
                                           "n\"",
                                           "*",
                                           "_",
                                           "3",
                                           "0",
                                           "9223372036854775807",
                                           "x",
                                           ":",
                                           "--dt=",
                                           "--batch=",
                                           "--conv",
                                           "--matmul",
                                           "--rnn",
                                           "--lrn",
                                           "--mb=",
                                           ",",
                                           "\\",
                                           "\n",
                                           " ",
                                           "#",
                                           "--reset",
                                           "eps",
                                           "alpha",
                                           "1e999",
                                           "ic8oc8ih8kh3",
                                           "4x4:4x4",
                                           "l1t1sic4",
                                           "--cfg=",
                                           "u8s8u8",
                                           "--attr-scales=",
                                           "--attr-zero-points=",
                                           "--attr-post-ops=",
                                           "src:common:",
                                           "wei:per_oc",
                                           "sum:",
                                           "+"};
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (uint32_t i = random() % 12; i-- > 0;) text += pieces[random() % pieces.size()];
    if (!text.empty()) text[random() % text.size()] = static_cast<char>(random() % 256);
    try {
      for (const Entry& e : read_batch_text(text, "list", Driver::conv)) {
        accepted += static_cast<int>(!e.text.empty());
        const Translated t = to_problem(e);
        EXPECT_NE(t.problem.has_value(), !t.unsupported.empty()) << text;
      }
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace trine::bench
