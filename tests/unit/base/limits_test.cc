// Time and memory that a run may take.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/deadline.h"
#include "base/memory.h"
#include "trine/base/tensor.h"

namespace trine {
namespace {

ErrorCode code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode{0};
}

TEST(Limits, ADeadlineEndsWithItsScope) {
  EXPECT_NO_THROW(check_deadline());
  {
    const Deadline deadline(1e-6);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(code_of(check_deadline), ErrorCode::timeout);
    const Deadline longer(100);  // an inner one cannot lengthen it
    EXPECT_EQ(code_of(check_deadline), ErrorCode::timeout);
  }
  EXPECT_NO_THROW(check_deadline());
}

TEST(Limits, NoTimeGivenIsNoLimit) {
  for (double seconds : {0.0, -1.0, 1e30}) {
    const Deadline deadline(seconds);
    EXPECT_NO_THROW(check_deadline()) << seconds;
  }
}

TEST(Limits, ATensorLargerThanTheMachineIsAnError) {
  EXPECT_EQ(code_of([] { Tensor(DType::f32, {kMaxElements}); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { Tensor(DType::string, {kMaxElements}); }), ErrorCode::out_of_memory);
}

TEST(Limits, TensorsAliveCount) {
  const double free = static_cast<double>(memory_limit()) - (1 << 20);
  EXPECT_NO_THROW(need_memory(free / 2));
  const Tensor held(DType::u8, {static_cast<int64_t>(free / 2)});  // never touched: takes no memory
  EXPECT_EQ(code_of([&] { need_memory(free * 0.6); }), ErrorCode::out_of_memory);
}

TEST(Limits, ContainersOutOfMemoryAreErrors) {
  EXPECT_EQ(code_of([] { with_memory_errors("x", [] { throw std::bad_alloc(); }); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { with_memory_errors("x", [] { std::vector<int>().reserve(SIZE_MAX); }); }),
            ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace trine
