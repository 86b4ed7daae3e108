#include <gtest/gtest.h>

#include "trine/base/error.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

TEST(Checks, WhatIsNotCheckedIsRefused) {
  const Device cpu = Device::open("cpu");
  constexpr const char* kSource = "__global__ void nothing() {}";
  EXPECT_NO_THROW(Module::compile(cpu, kSource, {.checks = {"barrier"}}));
  for (const char* check : {"memory", "race", "init", "other"}) {
    try {
      Module::compile(cpu, kSource, {.checks = {check}});
      ADD_FAILURE() << check;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
    }
  }
}

}  // namespace
}  // namespace trine::compute
