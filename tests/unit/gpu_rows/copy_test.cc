// Strided copies and gathers on devices: the same bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

TEST(DeviceCopy, Transposes) {
  Cases cases;
  for (int64_t bytes : {1, 2, 4, 8, 16})
    for (const Dims& dims : {Dims{2, 3, 5}, Dims{33, 70}, Dims{64, 128}, Dims{3, 1, 65, 31}, Dims{0, 4}, Dims{200}}) {
      std::vector<int> reversed, swapped;
      for (size_t i = 0; i < dims.size(); ++i) reversed.insert(reversed.begin(), static_cast<int>(i));
      for (size_t i = 0; i < dims.size(); ++i) swapped.push_back(static_cast<int>(i));
      cases.add(CopyProblem::transpose(dims, reversed, bytes));
      if (dims.size() < 2) continue;
      std::swap(swapped[dims.size() - 1], swapped[dims.size() - 2]);
      cases.add(CopyProblem::transpose(dims, swapped, bytes), CaseOptions{.shift = 1});
    }
  cases.run();
}

TEST(DeviceCopy, HeadsOfAttention) {
  Cases cases;
  cases.add(CopyProblem::transpose({2, 17, 3, 64}, {0, 2, 1, 3}, 2));
  cases.add(CopyProblem::transpose({2, 17, 3, 10}, {0, 2, 1, 3}, 2));
  cases.add(CopyProblem::transpose({1, 17, 3, 8}, {0, 2, 3, 1}, 2));
  cases.run();
}

TEST(DeviceCopy, SlicesBroadcastsAndReversed) {
  Cases cases;
  for (int64_t bytes : {1, 2, 4, 8, 16}) {
    cases.add(CopyProblem{{4, 24}, {40, 1}, {32, 1}, bytes});                           // rows that lie apart
    cases.add(CopyProblem{{4, 24}, {40, 1}, {32, 1}, bytes}, CaseOptions{.shift = 1});  // at an odd address
    cases.add(CopyProblem{{4, 24}, {41, 1}, {33, 1}, bytes});
    cases.add(CopyProblem{{3, 5, 7}, {0, 1, 0}, {35, 7, 1}, bytes});  // broadcasts
    cases.add(CopyProblem{{5, 3}, {1, 30}, {3, 1}, bytes});           // few columns
    cases.add(CopyProblem{{}, {}, {}, bytes});                        // one element
    cases.add(CopyProblem{{2, 2, 2, 2, 2, 2, 2}, {1, 2, 4, 8, 16, 32, 64}, {64, 32, 16, 8, 4, 2, 1}, bytes});
  }
  cases.run();
}

GatherProblem gather(int64_t outer, int64_t axis, int64_t inner, int64_t count, DType index) {
  return {.outer = outer, .axis = axis, .inner_bytes = inner, .count = count, .index = index};
}

TEST(DeviceGather, RowsOfAnyBytes) {
  Cases cases;
  for (DType index : {DType::i32, DType::i64})
    for (int64_t inner : {1, 2, 6, 12, 16, 48, 1000}) {
      CaseOptions options;
      options.adjust = [](CaseData& d) {
        for (int64_t i = 0; i < d.sizes.in[1]; ++i) d.set(1, i, static_cast<double>((i * 7) % 22 - 11));
      };
      cases.add(gather(3, 11, inner, 33, index), options);
      options.shift = 1;
      cases.add(gather(1, 11, inner, 5, index), options);
    }
  cases.add(gather(2, 5, 4, 0, DType::i64));
  cases.run();
}

TEST(DeviceGather, BadIndicesAreToldAndReadNothing) {
  const GatherProblem p = gather(2, 5, 8, 3, DType::i64);
  const DeviceTraits traits = traits_of(test_device());
  const DeviceRow* row = find_on_device(p, traits).best();
  ASSERT_NE(row, nullptr);
  const compute::DeviceCall call = row->call(*row, p, traits);
  EXPECT_EQ(call.fault, "gather: index {} outside [-5, 4]");
  for (const int64_t bad : {5, -6, 1 << 20}) {
    const int64_t indices[] = {4, bad, -5}, none[2] = {};
    const std::vector<char> data(80, 1);
    const Guarded x(data.data(), 80, 0xff), index(indices, sizeof indices, 0xff), fault(none, sizeof none, 0xff);
    const Guarded y(nullptr, 48, 0xa5);
    compute::Stream stream = test_device().create_stream();
    using Kind = compute::OperandRole::Kind;
    test_programs().submit(
        call,
        [&](const compute::OperandRole& role) -> void* {
          if (role.kind == Kind::fault) return fault.data();
          if (role.kind == Kind::out) return y.data();
          return role.index ? index.data() : x.data();
        },
        stream);
    stream.synchronize();
    int64_t words[2];
    std::memcpy(words, fault.values().data(), sizeof words);
    EXPECT_EQ(words[0], 1);
    EXPECT_EQ(words[1], bad);
    EXPECT_TRUE(y.intact());
    EXPECT_EQ(y.values(), std::vector<char>(48, 1));
  }
}

}  // namespace
}  // namespace trine::dnn::test
