// trine doctor: what it makes of NVIDIA's libraries.
#include "trine/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "run_command.h"

namespace trine::cli {
namespace {

TEST(Doctor, CudaVersionsReadAsPeopleWriteThem) {
  EXPECT_EQ(cuda_version_text(12040), "12.4");
  EXPECT_EQ(cuda_version_text(13000), "13.0");
}

TEST(Doctor, ALibraryNewerThanTheDriverIsTold) {
  EXPECT_EQ(judge_library("cuDNN", "9.1", 12080, 12040, "nvidia-cudnn-cu12").state, State::good);  // of one major
  EXPECT_EQ(judge_library("cuDNN", "9.1", 12080, 13000, "nvidia-cudnn-cu13").state, State::good);
  EXPECT_EQ(judge_library("cuDNN", "9.1", 13000, 0, "nvidia-cudnn-cu12").state, State::good);  // nothing to match
  const Finding f = judge_library("cuDNN", "9.1", 13000, 12040, "nvidia-cudnn-cu12");
  EXPECT_EQ(f.state, State::note);
  EXPECT_NE(f.found.find("CUDA 13"), std::string::npos) << f.found;
  EXPECT_NE(f.advice.find("nvidia-cudnn-cu12"), std::string::npos) << f.advice;
  EXPECT_NE(f.advice.find("12.4"), std::string::npos) << f.advice;
}

TEST(Doctor, EveryMachineIsToldOfDriverAndLibraries) {
  const std::vector<Finding> findings = gpu_findings();
  for (const char* what : {"nvidia driver", "NVRTC", "cuDNN", "cuBLASLt", "NCCL"})
    EXPECT_EQ(std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.what == what; }), 1)
        << what;
  const Told told = tell_command(setup_doctor, {"doctor", "--json"});
  const auto report = nlohmann::json::parse(told.out);
  EXPECT_GE(report["findings"].size(), findings.size());
}

}  // namespace
}  // namespace trine::cli
