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

TEST(Cpu, CapOnlyLowers) {
  CpuLevel hardware = cpu_level();
  limit_cpu_level(CpuLevel::baseline);
  EXPECT_EQ(cpu_level(), CpuLevel::baseline);
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
