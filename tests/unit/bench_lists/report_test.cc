// What was measured, as lines, sums and tables.
#include "report.h"

#include <gtest/gtest.h>

#include "read_one.h"
#include "totals.h"

namespace trine::bench {
namespace {

Entry entry_of(const std::string& list, const std::string& text) {
  Entry e = read_one(text);
  e.list = list;
  return e;
}

// 2 GFLOP on a machine of 100 GFLOP/s; seconds of ours and of the peer, 0 for none.
Measurement measured(const Entry& entry, double ours, double peer) {
  Measurement m;
  m.entry = &entry, m.flops = 2e9, m.ops = 1e9, m.peak_flops = 100e9;
  m.ours.push_back({.implementation = "conv_rows", .median = ours, .least = ours / 2, .create_ms = 3});
  if (peer > 0) m.peer.push_back({.implementation = "brgconv nhwc", .median = peer, .least = peer});
  return m;
}

const Entry kTwice = entry_of("one", "--dir=FWD_D mb1ic4oc4ih8kh3n\"one:a*2\"");
const Entry kOnce = entry_of("one", "mb1ic4oc8ih8kh3n\"one:b\"");
const Entry kOther = entry_of("two", "mb1ic8oc8ih8kh3");
const Entry kNarrow = entry_of("two", "--dt=u8:s8:u8 mb1ic8oc8ih8kh3");

bool holds(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(Report, line_of_a_problem) {
  const std::string line = lines(measured(kTwice, 0.04, 0.05), {.peer = true});
  EXPECT_TRUE(holds(line, "one:a mb1ic4oc4ih8kh3 ")) << line;
  EXPECT_TRUE(holds(line, "  2 f32")) << line;
  EXPECT_TRUE(holds(line, "40000.0     50.0    50%  conv_rows")) << line;
  EXPECT_TRUE(holds(line, "50000.0   1.25  brgconv nhwc\n")) << line;
  Measurement vague = measured(kTwice, 0.04, 0.05);
  vague.exact = false;
  EXPECT_TRUE(holds(lines(vague, {.peer = true}), "~ 1.25"));
}

TEST(Report, columns_stand_under_their_heads) {
  const Columns columns{.peer = true, .baseline = "f32"};
  Measurement m = measured(kNarrow, 0.01, 0.02);
  m.baseline = 0.04;
  const std::string head = header(columns), line = lines(m, columns);
  const auto end_of = [](const std::string& text, const std::string& part) { return text.find(part) + part.size(); };
  EXPECT_EQ(end_of(head, " f32 ratio"), end_of(line, " 4.00")) << head << line;
  EXPECT_EQ(end_of(head, " onednn us"), end_of(line, " 20000.0")) << head << line;
  EXPECT_EQ(head.find("onednn's kernel"), line.find("brgconv")) << head << line;
}

// The line that benchdnn's own scripts read.
TEST(Report, perf_line) {
  EXPECT_EQ(perf_lines(measured(kTwice, 0.04, 0)),
            "perf,cpu,conv_rows,\"one:a*2\",--conv --dir=FWD_D mb1ic4oc4ih8kh3n\"one:a*2\",1,3,20,50,40,25\n");
  EXPECT_EQ(perf_header(),
            "Output template: perf,%engine%,%impl%,%name%,%prb%,%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%\n");
  const Entry product = read_one("4x8:8x16_nffn", Driver::matmul);
  EXPECT_TRUE(holds(perf_lines(measured(product, 1, 2)), "perf,cpu,conv_rows,\"ffn\",--matmul 4x8:8x16_n\"ffn\",1,"));
  EXPECT_TRUE(holds(perf_lines(measured(product, 1, 2)), "\nperf,onednn,brgconv nhwc,\"ffn\","));
  EXPECT_TRUE(holds(perf_lines(measured(kOther, 1, 0)), "conv_rows,,--conv mb1ic8oc8ih8kh3,1,"));
}

TEST(Totals, a_list_is_the_sum_of_its_layers) {
  const std::vector<Measurement> all{measured(kTwice, 0.04, 0.08), measured(kOnce, 0.02, 0.01),
                                     measured(kOther, 0.04, 0)};
  const auto sums = totals(all);
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[0].list, "one");
  EXPECT_EQ(sums[0].problems, 2U);
  EXPECT_DOUBLE_EQ(sums[0].layers, 3);
  EXPECT_DOUBLE_EQ(sums[0].flops, 6e9);
  EXPECT_DOUBLE_EQ(sums[0].ours, 0.1);
  EXPECT_DOUBLE_EQ(sums[0].peer, 0.17);
  EXPECT_DOUBLE_EQ(sums[0].at_peak, 0.06);
  EXPECT_DOUBLE_EQ(sums[0].mean_ratio(), 1);  // of 2 and 1/2: multiplicity does not count
  EXPECT_EQ(sums[1].compared, 0U);
  EXPECT_EQ(sums[1].mean_ratio(), 0);
  EXPECT_EQ(sums[2].list, "all");
  EXPECT_DOUBLE_EQ(sums[2].ours, 0.14);
  EXPECT_EQ(sums[2].compared, 2U);
}

TEST(Totals, what_a_runtime_hides_counts_in_sums_only) {
  Measurement vague = measured(kOnce, 0.02, 0.01);
  vague.exact = false;
  const std::vector<Measurement> all{measured(kTwice, 0.04, 0.08), vague};
  EXPECT_DOUBLE_EQ(totals(all)[0].mean_ratio(), 2);
  EXPECT_DOUBLE_EQ(totals(all)[0].peer, 0.17);
  EXPECT_TRUE(slow_ones(all).empty());
}

TEST(Totals, number_types_are_compared_with_the_first) {
  Measurement narrow = measured(kNarrow, 0.01, 0);
  narrow.baseline = 0.04;
  const auto sums = totals({measured(kOther, 0.04, 0), narrow});
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].based, 0U);
  EXPECT_EQ(sums[1].type, "u8:s8:u8");
  EXPECT_DOUBLE_EQ(sums[1].mean_gain(), 4);
  EXPECT_DOUBLE_EQ(sums[1].baseline / sums[1].ours_based, 4);
}

TEST(Totals, text_and_markdown) {
  const std::vector<Measurement> all{measured(kTwice, 0.04, 0.08), measured(kOnce, 0.02, 0.01)};
  const Columns columns{.peer = true};
  EXPECT_TRUE(holds(summary(all, columns),
                    "one f32: 2 problems, 3 layers, 6.00 GFLOP: 100.000 ms, 60.0 GFLOP/s, 60 % of the peak\n"
                    "  onednn on 2 of them: 170.000 ms against 100.000 ms, ratio 1.70; geometric mean of 2 problems' "
                    "ratios 1.000\n"
                    "  below 0.8: 0.50  f32  one:b mb1ic4oc8ih8kh3  conv_rows\n"))
      << summary(all, columns);
  EXPECT_EQ(markdown(all, columns),
            "| list | type | problems | ms | GFLOP/s | % of peak | onednn ms | ratio | geometric mean |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            "| one | f32 | 2 | 100.00 | 60.0 | 60 | 170.00 | 1.70 | 1.00 of 2 |\n"
            "\n"
            "Below 0.8:\n"
            "\n"
            "| problem | type | x | kernel | us | onednn us | ratio | onednn's kernel |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            "| one:b mb1ic4oc8ih8kh3 | f32 | 1 | conv_rows | 20000.0 | 10000.0 | 0.50 | brgconv nhwc |\n");
  EXPECT_TRUE(holds(markdown({measured(kTwice, 0.04, 0.08)}, columns), "No problem is below 0.8.\n"));
  EXPECT_FALSE(holds(markdown({measured(kTwice, 0.04, 0)}, {}), "onednn"));
}

}  // namespace
}  // namespace trine::bench
