// The flags of `trine cc`.
#include "trine/cc_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trine/base/error.h"

namespace trine::cli {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string refusal(const Words& words) {
  try {
    parse_cc(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CcArguments, AreThoseOfCompilers) {
  const CcArguments a = parse_cc({"a.cu", "-o", "program", "-Iinclude", "-I", "more", "-DN=3", "-O3", "-std=c++20",
                                  "-g", "b.cc", "-Llib", "-l", "m", "-Xcompiler", "-Wall,-fopenmp", "c.cu"});
  EXPECT_EQ(a.sources, (Words{"a.cu", "b.cc", "c.cu"}));
  EXPECT_EQ(a.output, "program");
  EXPECT_EQ(a.device.include_dirs, (Words{"include", "more"}));
  EXPECT_EQ(a.device.defines, Words{"N=3"});
  EXPECT_EQ(a.device.standard, 20);
  EXPECT_TRUE(a.device.debug);  // gdb sees kernels with the host's flag too
  EXPECT_TRUE(a.device.whole_program);
  EXPECT_EQ(a.link, (Words{"-Llib", "-lm"}));
  for (const char* word : {"-Iinclude", "-Imore", "-DN=3", "-O3", "-g", "-Wall", "-fopenmp", "-std=c++20"})
    EXPECT_TRUE(has(a.host, word)) << word;
}

TEST(CcArguments, OfNvccAreTakenOrIgnored) {
  const CcArguments a = parse_cc({"a.cu", "-arch=sm_90", "-gencode", "arch=compute_80,code=sm_80", "--use_fast_math",
                                  "-G", "-rdc=true", "-lineinfo", "--extended-lambda", "-lcudart", "--check=barrier"});
  EXPECT_EQ(a.sources, Words{"a.cu"});
  EXPECT_TRUE(a.device.fast_math);
  EXPECT_TRUE(a.device.debug);
  EXPECT_EQ(a.device.checks, (Words{"barrier"}));
  EXPECT_EQ(a.notes, (Words{"-arch=sm_90", "-gencode", "-lineinfo", "--extended-lambda", "-lcudart"}));
  EXPECT_TRUE(a.link.empty());
  EXPECT_TRUE(a.relocatable);
  EXPECT_FALSE(a.compile_only);
  EXPECT_TRUE(parse_cc({"-dc", "a.cu"}).relocatable);
  EXPECT_EQ(parse_cc({"a.cu", "--gpu=sm_80,sm_90"}).architectures, (Words{"sm_80", "sm_90"}));
  EXPECT_TRUE(parse_cc({"-dc", "a.cu"}).compile_only);
}

TEST(CcArguments, ThatAreWrongAreTold) {
  EXPECT_EQ(refusal({}), "cc: no file; give one that ends in .cu");
  EXPECT_EQ(refusal({"a.cu", "-o"}), "cc: -o without a value");
  EXPECT_EQ(refusal({"a.cu", "--check=races"}), "cc: --check=races; accepted are memory, race, barrier, init, all");
  EXPECT_NE(refusal({"a.cu", "--frobnicate"}).find("flag '--frobnicate'; accepted"), std::string::npos);
  EXPECT_NE(refusal({"-c", "-o", "x.o", "a.cu", "b.cu"}).find("-c and -o for 2 files"), std::string::npos);
}

}  // namespace
}  // namespace trine::cli
