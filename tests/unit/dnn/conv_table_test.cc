// Every combination of kernel, stride, dilation, padding (also larger than the kernel), groups, layout, direction and
// number format of small convolutions, through every row that takes it.
#include <gtest/gtest.h>

#include "check_rows.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

constexpr ElementTypes kTypes[] = {{},
                                   {DType::f16, DType::f16, DType::f16},
                                   {DType::bf16, DType::bf16, DType::bf16},
                                   {DType::bf16, DType::bf16, DType::f32},
                                   {DType::u8, DType::i8, DType::u8, DType::i32, true},
                                   {DType::i8, DType::i8, DType::i32, DType::i32}};

int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, bool transposed) {
  const int64_t reach = (kernel - 1) * dilation + 1;
  return transposed             ? (in - 1) * stride + reach - 2 * pad
         : in + 2 * pad < reach ? 0
                                : (in + 2 * pad - reach) / stride + 1;
}

template <class Body>
void for_each_convolution(Body body) {
  for (bool transposed : {false, true})
    for (int64_t kernel : {1, 2, 3})
      for (int64_t stride : {1, 2})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {int64_t{0}, int64_t{1}, kernel + 1})
            for (int64_t groups : {1, 2, 6}) {
              ConvProblem p{.n = 2, .in_channels = 6, .out_channels = 6, .groups = groups, .in = {1, 5, 8}};
              p.kernel = {1, kernel, kernel}, p.stride = {1, stride, stride}, p.dilation = {1, dilation, dilation};
              p.pad_begin = {0, pad, pad}, p.transposed = transposed;
              for (size_t i = 1; i < 3; ++i) p.out[i] = out_size(p.in[i], kernel, stride, dilation, pad, transposed);
              if (p.out[1] > 0 && p.out[2] > 0) body(p);
            }
}

TEST(ConvTable, EveryAlgorithm) {
  int problems = 0, unanswered = 0;
  for_each_convolution([&](ConvProblem p) {
    for (const ElementTypes& types : kTypes)
      for (Layout layout : {Layout::nhwc, Layout::nchw}) {
        p.types = types, p.in_layout = layout;
        ++problems;
        if (find(p).best()) check_rows(p, conv_oracle);
        else ++unanswered;
        EXPECT_NO_THROW(Primitive{p}) << text(p);
      }
  });
  EXPECT_GT(problems, 2000);
  std::printf("%d problems, %d of them through a copied view only\n", problems, unanswered);
}

TEST(ConvTable, NoImagesNoChannelsNoPixels) {
  for (const ElementTypes& types : kTypes)
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      ConvProblem p{
          .n = 0, .in_channels = 6, .out_channels = 6, .in = {1, 5, 8}, .out = {1, 3, 6}, .kernel = {1, 3, 3}};
      p.types = types, p.in_layout = layout;
      if (find(p).best()) check_rows(p, conv_oracle);
      p.n = 1, p.out = {1, 0, 6};
      if (find(p).best()) check_rows(p, conv_oracle);
      p.out = {1, 3, 6}, p.in_channels = 0;
      if (find(p).best()) check_rows(p, conv_oracle);
    }
}

// Cropping: a padding less than 0.
TEST(ConvTable, NegativePadding) {
  for (const ElementTypes& types : kTypes)
    for (bool transposed : {false, true}) {
      ConvProblem p{
          .n = 2, .in_channels = 6, .out_channels = 7, .in = {1, 9, 8}, .out = {1, 5, 4}, .kernel = {1, 3, 3}};
      p.pad_begin = {0, -1, -1}, p.types = types, p.transposed = transposed;
      if (transposed) p.out = {1, 9, 8};
      if (find(p).best()) check_rows(p, conv_oracle);
    }
}

}  // namespace
}  // namespace trine::dnn::test
