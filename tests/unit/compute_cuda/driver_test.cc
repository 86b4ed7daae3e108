// Finding the driver, and saying why it cannot be used.
#include "backends/cuda/driver.h"

#include "backends/cuda/target.h"
#include "fixture.h"

namespace trine::cuda {
namespace {

class DriverTest : public testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
  std::string problem(const std::string& library = FAKE_DRIVER) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const Driver driver = load_driver(library);
    EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(driver.devices == 0, !driver.problem.empty());
    return driver.problem;
  }
};

TEST_F(DriverTest, IsLoaded) {
  const Driver driver = load_driver(FAKE_DRIVER);
  EXPECT_EQ(driver.problem, "");
  EXPECT_EQ(driver.devices, 2);
  EXPECT_EQ(driver.version, 13000);
}

TEST_F(DriverTest, ThatIsNotThereIsNoDevice) {
  EXPECT_TRUE(compute::has(problem("/nowhere/libcuda.so.1"), "no CUDA driver: /nowhere/libcuda.so.1"));
  EXPECT_TRUE(compute::has(problem("libm.so.6"), "libm.so.6 has no cuInit"));
}

TEST_F(DriverTest, ThatIsTooOldSaysWhatToInstall) {
  fake::settings().version = 11080;
  EXPECT_TRUE(compute::has(problem(), "is of CUDA 11.8; install a driver of CUDA 12.0 or later"));
  fake::settings().version = 12000;
  EXPECT_EQ(problem(), "");
}

TEST_F(DriverTest, ThatLacksAFunctionSaysWhich) {
  EXPECT_TRUE(compute::has(problem(LACKING_DRIVER), "has no cuStreamGetCaptureInfo_v2; install a driver"));
}

TEST_F(DriverTest, ThatDoesNotStartSaysWhy) {
  fake::fail("cuInit", kNoDevice);
  EXPECT_EQ(problem(), "cuInit: CUDA_ERROR_NO_DEVICE (its text); check nvidia-smi and CUDA_VISIBLE_DEVICES");
  fake::fail("cuInit", kSystemNotReady);
  EXPECT_TRUE(compute::has(problem(), "CUDA_ERROR_SYSTEM_NOT_READY (its text); start nvidia-fabricmanager"));
  fake::fail("cuInit", 999);
  EXPECT_TRUE(compute::has(problem(), "cuInit: CUDA error 999; check with nvidia-smi"));
  fake::fail("cuDeviceGetCount", 999);
  EXPECT_TRUE(compute::has(problem(), "cuDeviceGetCount: CUDA error 999"));
  fake::settings().devices = 0;
  EXPECT_TRUE(compute::has(problem(), "the driver shows no device"));
}

TEST(Target, IsTheNewestThatBothSidesKnow) {
  EXPECT_EQ(architecture_for(9, 0), "sm_90");
  EXPECT_EQ(architecture_for(7, 5), "sm_75");
  EXPECT_EQ(architecture_for(9, 9), "sm_90");
  EXPECT_EQ(architecture_for(12, 1), "sm_121");
  EXPECT_EQ(architecture_for(14, 0), "sm_121");
  EXPECT_EQ(ptx_version_for(12000), 80);
  EXPECT_EQ(ptx_version_for(12040), 84);
  EXPECT_EQ(ptx_version_for(12060), 85);
  EXPECT_EQ(ptx_version_for(13020), 90);
}

}  // namespace
}  // namespace trine::cuda
