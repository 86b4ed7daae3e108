#include "trine/base/cpu.h"

#include <gtest/gtest.h>

namespace trine {
namespace {

TEST(Cpu, QuotaRoundsUp) {
  EXPECT_EQ(cpus_of_quota("200000 100000\n"), 2);
  EXPECT_EQ(cpus_of_quota("150000 100000"), 2);
  EXPECT_EQ(cpus_of_quota("1000 100000"), 1);
  EXPECT_EQ(cpus_of_quota("max 100000"), std::nullopt);
  EXPECT_EQ(cpus_of_quota("-1 100000"), std::nullopt);
  EXPECT_EQ(cpus_of_quota(""), std::nullopt);
}

TEST(Cpu, LevelNamesRoundTrip) {
  for (CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512})
    EXPECT_EQ(cpu_level_from_name(name(level)), level);
  EXPECT_EQ(cpu_level_from_name("sse"), std::nullopt);
}

TEST(Cpu, TargetTextsRoundTrip) {
  for (std::string_view text : {"baseline", "avx2", "avx512", "avx512+vnni", "avx512+bf16", "avx512+vnni+bf16"}) {
    auto target = CpuTarget::from_text(text);
    ASSERT_TRUE(target) << text;
    EXPECT_EQ(target->text(), text);
  }
  for (std::string_view text : {"", "avx2+vnni", "avx512+", "avx512+bf16+vnni", "vnni"})
    EXPECT_FALSE(CpuTarget::from_text(text)) << text;
}

TEST(Cpu, FeaturesIncludeWhatIsNeeded) {
  CpuFeatures none, vnni{.vnni = true}, both{true, true};
  EXPECT_TRUE(none.include(none) && vnni.include(none) && vnni.include(vnni) && both.include(vnni));
  EXPECT_FALSE(none.include(vnni) || vnni.include(both));
}

TEST(Cpu, CapOnlyLowers) {
  CpuLevel hardware = cpu_level();
  limit_cpu_level(CpuLevel::baseline);
  EXPECT_EQ(cpu_level(), CpuLevel::baseline);
  EXPECT_EQ(cpu_features(), CpuFeatures{});
  limit_cpu_level(CpuLevel::avx512);
  EXPECT_EQ(cpu_level(), hardware);
  limit_cpu_level(std::nullopt);
  EXPECT_EQ(cpu_level(), hardware);
}

TEST(Cpu, SaysSomethingAboutThisMachine) {
  const CpuInfo& info = cpu_info();
  EXPECT_GE(info.cpus, 1);
  EXPECT_GE(info.l1_bytes, 8u << 10);
  EXPECT_GE(info.l2_bytes, info.l1_bytes);
  EXPECT_LE(cpu_level(), info.level);
  EXPECT_NE(info.fingerprint().find(name(info.level)), std::string::npos);
}

}  // namespace
}  // namespace trine
