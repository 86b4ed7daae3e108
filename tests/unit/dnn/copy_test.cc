// Copies and gathers move bytes: results are compared for equality.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "dnn/kernel_row.h"
#include "dnn/operands.h"
#include "trine/base/error.h"
#include "trine/base/thread_pool.h"

namespace trine::dnn {
namespace {

using Bytes = std::vector<uint8_t>;

void check(const CopyProblem& p) {
  OperandSizes sizes = operand_sizes(p);
  Bytes in(static_cast<size_t>(sizes.in[0])), want(static_cast<size_t>(sizes.out[0]) + 64, 0xa5);
  std::mt19937_64 random(hash(p));
  for (uint8_t& b : in) b = static_cast<uint8_t>(random());
  auto size = static_cast<size_t>(p.element_bytes);
  int64_t count = element_count(p.dims);
  int64_t origin = 0;  // a negative stride starts at the end
  for (size_t d = 0; d < p.dims.size(); ++d) origin += std::max<int64_t>(0, -p.in_strides[d]) * (p.dims[d] - 1);
  if (count) in.resize(in.size() + static_cast<size_t>(origin) * size, 7);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = origin, to = 0, rest = i;
    for (size_t d = p.dims.size(); d-- > 0;) {
      from += rest % p.dims[d] * p.in_strides[d];
      to += rest % p.dims[d] * p.out_strides[d];
      rest /= p.dims[d];
    }
    std::copy_n(in.begin() + from * p.element_bytes, size, want.begin() + to * p.element_bytes);
  }
  for (const KernelRow* row : rows_of(OpKind::copy)) {
    if (!runs_here(*row)) continue;
    ASSERT_EQ(row->fits(p), nullptr);
    for (int threads : {1, 3}) {
      ThreadPool pool(threads);
      Bytes out(want.size(), 0xa5);
      Args args;
      args.in[0] = in.data() + origin * p.element_bytes;
      args.out[0] = out.data();
      args.pool = &pool;
      row->run(p, args);
      EXPECT_EQ(out, want) << row->name << " " << text(p) << " threads " << threads;
    }
  }
}

TEST(Copy, EveryPermutation) {
  for (Dims dims : {Dims{5}, Dims{3, 17}, Dims{2, 3, 4}, Dims{17, 1, 33}, Dims{2, 3, 1, 5}, Dims{2, 3, 4, 5}}) {
    std::vector<int> perm(dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    do {
      for (int64_t bytes : {1, 2, 4, 8, 16}) check(CopyProblem::transpose(dims, perm, bytes));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(Copy, ImagesBetweenLayouts) {
  check(CopyProblem::transpose({1, 3, 50, 70}, {0, 2, 3, 1}, 4));
  check(CopyProblem::transpose({2, 40, 50, 37}, {0, 3, 1, 2}, 4));
  check(CopyProblem::transpose({128, 12, 65}, {1, 0, 2}, 4));
  check(CopyProblem::transpose({300, 200}, {1, 0}, 4));
}

// Channel shuffles and planes of colours: few rows to small groups and back, whole and as parts of wider rows.
TEST(Copy, ShortSidesOfTransposes) {
  for (int64_t n : {1, 2, 3, 4, 7, 15, 16, 17, 29, 33, 63, 64, 65, 131})
    for (int64_t few : {2, 3, 4, 5})
      for (int64_t bytes : {1, 2, 4, 8, 16}) {
        check({{3, n, few}, {few * n, 1, n}, {few * n, few, 1}, bytes});
        check({{3, n, few}, {few * n + 9, 1, n + 2}, {few * n + 5, few, 1}, bytes});
        check({{3, n, few}, {few * n + 5, 1, n}, {few * n + n, few + 1, 1}, bytes});
        check({{3, few, n}, {few * n, 1, few}, {few * n, n, 1}, bytes});
        check({{3, few, n}, {few * n + 5, 1, few}, {few * n + 9 * few, n + 3, 1}, bytes});
      }
  for (int64_t n : {2047, 2048, 2049, 6000}) {
    check(CopyProblem::transpose({2, 3, n}, {0, 2, 1}, 4));
    check(CopyProblem::transpose({2, n, 3}, {0, 2, 1}, 4));
  }
}

// Long runs are taken as the input lies, short ones many at a time.
TEST(Copy, Runs) {
  for (int64_t run : {1, 2, 3, 4, 7, 31, 32, 33, 81, 200})
    for (int64_t bytes : {1, 2, 4, 8, 16}) {
      check({{5, 7, run}, {7 * (run + 3), run + 3, 1}, {run, 5 * run, 1}, bytes});  // axes change places
      check({{3, 4, 5, run}, {run, 15 * run, 3 * run, 1}, {20 * run + 60, 5 * run + 15, run + 3, 1}, bytes});
      check({{6, 5, run}, {0, run, 1}, {5 * run + 2, run, 1}, bytes});     // repeated
      check({{6, 5, run}, {run, -6 * run, 1}, {5 * run, run, 1}, bytes});  // backwards
    }
  check({{70000, 2}, {5, 1}, {3, 1}, 4});
}

TEST(Copy, SlicesBroadcastsAndReversals) {
  check({{4, 5}, {20, 2}, {5, 1}, 4});  // every other column
  check({{4, 5}, {10, 1}, {7, 1}, 4});  // into a wider matrix
  check({{4, 5}, {0, 1}, {5, 1}, 4});   // a row repeated
  check({{4, 5}, {1, 0}, {5, 1}, 2});   // a column repeated
  check({{4, 5}, {-5, 1}, {5, 1}, 4});  // rows reversed
  check({{4, 5}, {5, -1}, {5, 1}, 8});  // columns reversed
  check({{6, 4}, {1, -6}, {4, 1}, 4});
}

TEST(Copy, NothingAndOneElement) {
  check({{}, {}, {}, 4});
  check({{1, 1}, {9, 9}, {9, 9}, 4});
  check({{0, 5}, {5, 1}, {5, 1}, 4});
}

TEST(Copy, LongRunsAreShared) { check({{2, 50000}, {50001, 1}, {50000, 1}, 4}); }

template <class Index>
void check_gather(const GatherProblem& p, const std::vector<Index>& index) {
  Bytes in(static_cast<size_t>(p.outer * p.axis * p.inner_bytes));
  std::mt19937_64 random(hash(p));
  for (uint8_t& b : in) b = static_cast<uint8_t>(random());
  Bytes want;
  for (int64_t o = 0; o < p.outer; ++o)
    for (Index i : index) {
      auto from = in.begin() + (o * p.axis + (i < 0 ? i + p.axis : i)) * p.inner_bytes;
      want.insert(want.end(), from, from + p.inner_bytes);
    }
  Bytes out(want.size());
  Args args;
  args.in[0] = in.data(), args.in[1] = index.data(), args.out[0] = out.data();
  for (const KernelRow* row : rows_of(OpKind::gather)) row->run(p, args);
  EXPECT_EQ(out, want);
}

TEST(Gather, RowsOfBothIndexTypes) {
  check_gather<int64_t>({.outer = 2, .axis = 5, .inner_bytes = 12, .count = 4}, {0, 4, -1, -5});
  check_gather<int32_t>({.outer = 1, .axis = 7, .inner_bytes = 3, .count = 3, .index = DType::i32}, {6, -7, 2});
}

TEST(Gather, AnIndexOutOfRangeIsAnError) {
  GatherProblem p{.outer = 1, .axis = 5, .inner_bytes = 4, .count = 1};
  float data[5] = {}, out[1];
  for (int64_t index : {int64_t{5}, int64_t{-6}, INT64_MIN, INT64_MAX}) {
    Args args;
    args.in[0] = data, args.in[1] = &index, args.out[0] = out;
    EXPECT_THROW(find_row("gather_rows_baseline")->run(p, args), Error);
  }
}

}  // namespace
}  // namespace trine::dnn
