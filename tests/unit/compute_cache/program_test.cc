// The container of `trine cc`: what goes in comes out, and damaged ones are refused.
#include "simt/run/program.h"

#include <gtest/gtest.h>

#include <random>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

Program example() {
  Program program;
  program.options.name = "a.cu";
  program.options.fast_math = true;
  program.options.checks = {"memory", "race"};
  program.options.unit = "0123";
  program.module.bitcode = std::string("BC\0\1", 4);
  program.module.kernels = {{.symbol = "_Z1kPf",
                             .name = "k(float*)",
                             .parameters = {{0, 8}, {8, 4}},
                             .parameter_bytes = 12,
                             .most_threads = 256}};
  program.module.variables = {{.symbol = "v", .name = "v", .bytes = 4, .constant = true}};
  program.ptx = {{"sm_80", "// ptx"}, {"sm_90", ""}};
  return program;
}

bool refused(std::string_view bytes) {
  try {
    decode_program(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return true;
  }
  return false;
}

TEST(Program, ComesBack) {
  const std::string bytes = encode_program(example());
  const Program program = decode_program(bytes + "what follows it");
  EXPECT_EQ(program_at(bytes.data()), bytes);
  EXPECT_EQ(program.options.name, "a.cu");
  EXPECT_TRUE(program.options.fast_math);
  EXPECT_FALSE(program.options.debug);
  EXPECT_EQ(program.options.unit, "0123");
  EXPECT_EQ(program.options.checks, (std::vector<std::string>{"memory", "race"}));
  EXPECT_EQ(program.module.bitcode, example().module.bitcode);
  ASSERT_EQ(program.module.kernels.size(), 1u);
  EXPECT_EQ(program.module.kernels[0].parameters[1].offset, 8u);
  EXPECT_EQ(program.module.kernels[0].most_threads, 256u);
  ASSERT_EQ(program.module.variables.size(), 1u);
  EXPECT_TRUE(program.module.variables[0].constant);
  ASSERT_EQ(program.ptx.size(), 2u);
  EXPECT_EQ(program.ptx[0].architecture, "sm_80");
  EXPECT_EQ(program.ptx[0].text, "// ptx");
}

TEST(Program, DamagedOnesAreRefused) {
  const std::string bytes = encode_program(example());
  for (size_t length = 0; length < bytes.size(); ++length) EXPECT_TRUE(refused(bytes.substr(0, length))) << length;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at >= 12 && at < 16) continue;  // unused
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
    EXPECT_TRUE(refused(damaged)) << "byte " << at << ", seed " << seed;
  }
}

}  // namespace
}  // namespace trine::simt
