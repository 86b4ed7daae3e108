// Sizes behind letters and tensors: what is written, what follows from it, what is refused.
#include <gtest/gtest.h>

#include "read_one.h"

namespace trine::bench {
namespace {

TEST(Descriptor, everything_written) {
  const Entry e = read_one("g2mb3ic4id5ih6iw7oc8od9oh10ow11kd2kh3kw4sd1sh2sw3pd0ph1pw2dd1dh2dw3n\"all\"");
  EXPECT_EQ(e.name, "all");
  EXPECT_EQ(e.text, "g2mb3ic4id5ih6iw7oc8od9oh10ow11kd2kh3kw4sd1sh2sw3pd0ph1pw2dd1dh2dw3");
  EXPECT_EQ(e.sizes.g, 2);
  EXPECT_TRUE(e.sizes.grouped);
  EXPECT_EQ(e.sizes.mb, 3);
  EXPECT_EQ(e.sizes.spatial_rank, 3);
  EXPECT_EQ(e.sizes.in, (Extents{5, 6, 7}));
  EXPECT_EQ(e.sizes.out, (Extents{9, 10, 11}));
  EXPECT_EQ(e.sizes.kernel, (Extents{2, 3, 4}));
  EXPECT_EQ(e.sizes.stride, (Extents{1, 2, 3}));
  EXPECT_EQ(e.sizes.dilation, (Extents{1, 2, 3}));
  EXPECT_EQ(e.sizes.pad_begin, (Extents{0, 1, 2}));
  EXPECT_EQ(e.sizes.pad_end[0], (9 - 1) * 1 - 5 + ((2 - 1) * 2 + 1) - 0);
}

TEST(Descriptor, defaults) {
  const Sizes s = read_one("ic3oc4ih10kh3").sizes;
  EXPECT_EQ(s.mb, 2);
  EXPECT_EQ(s.g, 1);
  EXPECT_FALSE(s.grouped);
  EXPECT_EQ(s.spatial_rank, 2);
  EXPECT_EQ(s.in, (Extents{1, 10, 10}));  // width as height
  EXPECT_EQ(s.kernel, (Extents{1, 3, 3}));
  EXPECT_EQ(s.out, (Extents{1, 8, 8}));  // no padding when neither is given
  EXPECT_EQ(s.pad_begin, (Extents{0, 0, 0}));
  EXPECT_EQ(s.stride, (Extents{1, 1, 1}));
}

TEST(Descriptor, padding_follows_from_the_output) {
  EXPECT_EQ(read_one("ic3oc64ih224oh112kh7sh2").sizes.pad_begin, (Extents{0, 2, 2}));  // (111*2-224+7)/2, truncated
  EXPECT_EQ(read_one("ic3oc64ih224oh112kh7sh2").sizes.pad_end, (Extents{0, 3, 3}));
  EXPECT_EQ(read_one("ic3oc64ih224oh112kh7sh2ph3").sizes.pad_end, (Extents{0, 2, 2}));
  EXPECT_EQ(read_one("ic1oc1ih10oh4kh1sh2").sizes.pad_begin, (Extents{0, -1, -1}));  // -3/2 goes to zero, as in C
  EXPECT_EQ(read_one("ic1oc1ih10oh4kh1sh2").sizes.pad_end, (Extents{0, -2, -2}));
}

TEST(Descriptor, dilation_counts_from_zero) {
  EXPECT_EQ(read_one("ic1oc1ih10kh3dh0").sizes.out[1], 8);
  EXPECT_EQ(read_one("ic1oc1ih10kh3dh1").sizes.out[1], 6);  // the kernel reaches over 5
}

TEST(Descriptor, rank_is_that_of_the_highest_dimension) {
  const Sizes one = read_one("ic1oc1iw10kw3").sizes;
  EXPECT_EQ(one.spatial_rank, 1);
  EXPECT_EQ(one.out, (Extents{1, 1, 8}));
  const Sizes three = read_one("ic1oc1id6kd3pd1").sizes;
  EXPECT_EQ(three.spatial_rank, 3);
  EXPECT_EQ(three.out, (Extents{6, 6, 6}));
  EXPECT_EQ(read_one("ic1oc1ih6iw8kh3kw1ph1").sizes.out, (Extents{1, 6, 8}));
}

TEST(Descriptor, underscores_and_names) {
  const Entry e = read_one("mb4_ic16_oc8_ih10oh10_kh2ph1_n\"set:a_b*c*12\"");
  EXPECT_EQ(e.name, "set:a_b*c");
  EXPECT_EQ(e.count, 12);
  EXPECT_EQ(e.text, "mb4_ic16_oc8_ih10oh10_kh2ph1");
  EXPECT_EQ(read_one("ic1oc1ih8kh3nplain*3").count, 3);
  EXPECT_EQ(read_one("ic1oc1ih8kh3n\"lnorm:2\"").count, 1);  // an index, no multiplicity
  EXPECT_EQ(read_one("ic1oc1ih8kh3n\"ends*\"").name, "ends*");
}

TEST(Descriptor, group_of_one_is_a_dimension) { EXPECT_TRUE(read_one("g1ic3oc4ih10kh3").sizes.grouped); }

TEST(Descriptor, transposed_convolution) {
  const Sizes s = read_one("ic8oc16ih10kh3sh2ph1", Driver::deconv).sizes;
  EXPECT_EQ(s.out, (Extents{1, 19, 19}));
  EXPECT_EQ(read_one("ic8oc16ih10oh20kh4sh2", Driver::deconv).sizes.pad_begin, (Extents{0, 1, 1}));
}

TEST(Descriptor, other_drivers) {
  EXPECT_EQ(read_one("mb50ic64ih112oh56kh3sh2", Driver::pool).sizes.pad_begin, (Extents{0, 0, 0}));
  EXPECT_EQ(read_one("mb1ic512ih7oc4096", Driver::ip).sizes.in, (Extents{1, 7, 7}));
  EXPECT_EQ(read_one("mb1ic2048oc1000", Driver::ip).sizes.spatial_rank, 0);
  EXPECT_DOUBLE_EQ(read_one("mb2ic4ih5", Driver::bnorm).sizes.eps, 0.0625);
  EXPECT_DOUBLE_EQ(read_one("mb2ic4ih5eps0.125n\"x\"", Driver::bnorm).sizes.eps, 0.125);
  EXPECT_EQ(read_one("g2mb2ic4ih5", Driver::gnorm).sizes.g, 2);
  const Sizes lrn = read_one("ic16_ih5_ls3alpha1e-2beta0.5k14.2_n\"a\"", Driver::lrn).sizes;
  EXPECT_EQ(lrn.window, 3);
  EXPECT_DOUBLE_EQ(lrn.alpha, 1e-2);
  EXPECT_DOUBLE_EQ(lrn.beta, 0.5);
  EXPECT_DOUBLE_EQ(lrn.k, 14.2);
  EXPECT_EQ(read_one("ic3ih4oh8", Driver::resampling).sizes.out, (Extents{1, 8, 8}));
  const Sizes rnn = read_one("l1t2mb6_sic16_slc32_n\"non-uniform:slc_neq_sic\"", Driver::rnn).sizes;
  EXPECT_EQ(rnn.steps, 2);
  EXPECT_EQ(rnn.sic, 16);
  EXPECT_EQ(rnn.slc, 32);
  EXPECT_EQ(rnn.dhc, 16);
  EXPECT_EQ(read_one("sic16dhc8", Driver::rnn).sizes.dic, 8);
}

TEST(Descriptor, tensors) {
  using Tensors = std::vector<std::vector<int64_t>>;
  const Entry e = read_one("30x14336:14336x4096_n\"llama:mm2*32\"", Driver::matmul);
  EXPECT_EQ(e.tensors, (Tensors{{30, 14336}, {14336, 4096}}));
  EXPECT_EQ(e.name, "llama:mm2");
  EXPECT_EQ(e.count, 32);
  EXPECT_EQ(e.text, "30x14336:14336x4096");
  EXPECT_EQ(read_one("16x40x64:1x64x40", Driver::matmul).tensors[1], (std::vector<int64_t>{1, 64, 40}));
  EXPECT_EQ(read_one("256x768_n\"lnorm_ci_0d:2\"", Driver::lnorm).name, "lnorm_ci_0d:2");
  EXPECT_EQ(read_one("0x3", Driver::softmax).tensors, (Tensors{{0, 3}}));
  EXPECT_EQ(read_one("1x12x128x64:1x12x64x128:1x12x128x64", Driver::sdpa).tensors.size(), 3U);
}

TEST(Descriptor, refusals_name_the_place_and_what_is_accepted) {
  const std::string unknown = refusal("\n\nic3oc4zz9ih3kh1");
  EXPECT_NE(unknown.find("list:3: ic3oc4zz9ih3kh1: character 7 begins no size of conv; accepted: mb ic"), unknown.npos)
      << unknown;
  const std::pair<const char*, const char*> wrong[] = {
      {"ic3oc4ih-3kh1", "no size at character 9"},
      {"ic3oc4ihkh1", "no size at character 9"},
      {"ic3ih10kh3", "no oc"},
      {"ic3oc4", "no spatial size"},
      {"ic3oc4ih10", "needs its input and kernel size"},
      {"ic3oc4ih10kh3sh0", "stride 0"},
      {"ic3oc4ih10kh0", "kernel size 0"},
      {"ic3oc4ih2kh5", "the kernel is larger than the padded input"},
      {"g3ic4oc3ih5kh3", "3 groups do not divide"},
      {"g0ic4oc3ih5kh3", "0 groups do not divide"},
      {"ic3oc4ih99999999999999999999kh1", "no size at character 9"},
      {"ic1oc1ih5kh9223372036854775807dh9223372036854775807", "a size past 2^63"},
      {"ic1oc1ih5kh3n\"a*99999999\"", "multiplicity"},
      {"ic1oc1ih5kh3n\"a*99999999999999999999999\"", "no size"},
  };
  for (const auto& [text, what] : wrong)
    EXPECT_NE(refusal(text).find(what), std::string::npos) << text << ": " << refusal(text);
  const std::pair<const char*, const char*> wrong_products[] = {
      {"16x32", "1 tensors; matmul needs 2"},
      {"16x32:31x64", "the same K"},
      {"16x:32x4", "no size at character 4"},
      {"2x16x32:3x32x4", "neither equal nor 1"},
      {"a16x3:3x4", "no size at character 1"},
      {"16x3:3x4y", "character 9"},
      {"1x1x1x1x1x1x1x1x1x1x1x1x1", "more than 12 dimensions"},
  };
  for (const auto& [text, what] : wrong_products) {
    EXPECT_NE(refusal(text, Driver::matmul).find(what), std::string::npos)
        << text << ": " << refusal(text, Driver::matmul);
  }
}

}  // namespace
}  // namespace trine::bench
