#include "rows.h"

namespace trine {
namespace {

using namespace test;

TEST(GpuFolds, SoftmaxOverEveryAxisAndSize) {
  for (const char* dims : {"3,1", "4,32", "7,33", "2,515", "0,5", "6,2"})
    for (const char* axis : {"0", "1"})
      run({std::string("f32[") + dims + "]", std::string("%r = softmax %x {axis=") + axis + "}"});
  for (const char* axis : {"0", "1", "2", "3"})
    run({"f32[2,5,3,11]", std::string("%r = log_softmax %x {axis=") + axis + "}"});
  run({"f16[5,64]", "%r = softmax %x {axis=1}", 2e-3});
  run({"f64[5,65]", "%r = softmax %x {axis=1}", 1e-13});
}

// A warp or less with packs, a block, rows in registers and rows that are read again.
TEST(GpuFolds, RowsOfEveryKind) {
  for (const char* dims : {"40,64", "150,256", "2,1024", "1,4100", "1,40000"})
    run({std::string("f32[") + dims + "]", "%r = softmax %x {axis=1}"});
  for (const char* dims : {"9,128", "1,6001"}) {
    run({std::string("f16[") + dims + "]", "%r = softmax %x {axis=1}", 2e-3});
    run({std::string("bf16[") + dims + "]", "%r = log_softmax %x {axis=1}", 2e-2});
    run({std::string("f32[") + dims + "]", "%a = const i64[1]{1};%r = reduce_sum %x %a {keepdims=0}", 1e-4});
  }
  run({"f64[3,1024]", "%r = softmax %x {axis=1}", 1e-12});
  run({"i8[3,4096]", "%a = const i64[1]{1};%r = reduce_sum %x %a {keepdims=0}", 0});
  run({"u8[70,16]", "%a = cast %x {to=\"f32\"};%b = const i64[1]{1};%r = reduce_sum %a %b {keepdims=0}", 0});
}

TEST(GpuFolds, ColumnsOfEveryKind) {
  for (const char* type : {"f32", "f16", "i64"})
    for (const char* dims : {"2,49,64", "1,200,3", "1,33,260"})
      run({std::string(type) + "[" + dims + "]", "%a = const i64[1]{1};%r = reduce_max %x %a {keepdims=0}", 0});
  run({"bool[1,40,72]", "%a = const i64[1]{1};%r = reduce_min %x %a {keepdims=0}", 0});
  run({"f32[2,70,64]", "%r = softmax %x {axis=1}"});
  run({"f32[1,9,8,40]", "%a = const i64[2]{1,2};%r = reduce_mean %x %a {keepdims=1}"});
}

// So few points that the folds themselves are split over blocks.
TEST(GpuFolds, FewLongFolds) {
  run({"i32[70000]", "%a = const i64[1]{0};%r = reduce_sum %x %a {keepdims=0}", 0});
  run({"f32[1,2,36000]", "%a = const i64[1]{2};%b = reduce_mean %x %a {keepdims=1};%r = relu %b", 1e-4});
  run({"i32[1,120,40,32]", "%a = const i64[2]{1,2};%r = reduce_sum %x %a {keepdims=1}", 0});
  run({"bool[1,40000]", "%a = const i64[1]{1};%r = reduce_min %x %a {keepdims=0}", 0});
  run({"f32[1,65536]", "%r = softmax %x {axis=1}"});
  run({"f32[1,2,180,200], f32[2], f32[2]", "%r = instance_normalization %x %y %z", 1e-4});
}

TEST(GpuFolds, ReductionsOverEveryAxis) {
  for (const char* axes :
       {"i64[1]{0}", "i64[1]{1}", "i64[1]{2}", "i64[2]{0,1}", "i64[2]{0,2}", "i64[2]{1,2}", "i64[3]{0,1,2}"})
    run({"f32[4,7,37]", std::string("%a = const ") + axes + ";%r = reduce_sum %x %a {keepdims=0}"});
  for (const char* op : {"reduce_mean", "reduce_max", "reduce_prod", "reduce_log_sum_exp"})
    for (const char* axis : {"0", "2"})
      run({"f32[4,7,37]", std::string("%a = const i64[1]{") + axis + "};%r = " + op + " %x %a {keepdims=0}"});
}

// Sums of small integers are exact, whatever their order.
TEST(GpuFolds, ExactInEveryType) {
  for (const char* type : {"i8", "u8", "i32", "u32", "i64"}) {
    run({std::string(type) + "[5,67]", "%a = const i64[1]{1};%r = reduce_sum %x %a {keepdims=0}", 0});
    run({std::string(type) + "[5,67]", "%a = const i64[1]{0};%r = reduce_max %x %a {keepdims=0}", 0});
    run({std::string(type) + "[5,67]", "%a = const i64[1]{1};%r = reduce_min %x %a {keepdims=0}", 0});
  }
  for (const char* type : {"f16", "bf16", "f64"})
    run({std::string(type) + "[5,67]", "%a = const i64[1]{1};%r = reduce_max %x %a {keepdims=0}", 0});
  run({"i32[5,67]", "%a = cast %x {to=\"f32\"};%b = const i64[1]{1};%r = reduce_sum %a %b {keepdims=0}", 0});
  for (const char* op : {"reduce_max", "reduce_min"})
    for (const char* axis : {"0", "1"})
      run({"bool[9,5]", std::string("%a = const i64[1]{") + axis + "};%r = " + op + " %x %a {keepdims=0}", 0});
}

TEST(GpuFolds, Nothing) {
  for (const char* op : {"reduce_sum", "reduce_max", "reduce_prod"})
    run({"f32[3,0]", std::string("%a = const i64[1]{1};%r = ") + op + " %x %a {keepdims=0}", 0});
}

TEST(GpuFolds, Normalisations) {
  run_all(normalisation_rows());
  run({"f16[3,768], f16[768], f16[768]", "%r = layer_normalization %x %y %z {axis=-1}", 4e-3});
  run({"f32[2,6,5,7]", "%r = lrn %x {size=3}"});
}

TEST(GpuFolds, FusedWithTheirNeighbours) {
  run_all(fused_fold_rows());
  run({"f32[5,96]", "%r = arg_max %x {axis=1, keepdims=0}", 0});
  run({"f32[5,96]", "%r = arg_min %x {axis=0, keepdims=0}", 0});
  run({"f32[4,70]", "%r, %s, %t = dynamic_quantize_linear %x", 0});
}

TEST(GpuFolds, Pools) {
  run({"f32[1,7,7,200]", "%a = const i64[2]{1,2};%r = reduce_mean %x %a {keepdims=1}"});
  run({"f16[2,7,7,64]", "%a = const i64[2]{1,2};%r = reduce_mean %x %a {keepdims=1}", 2e-3});
  run({"f32[2,20,7,7]", "%r = global_average_pool %x"});
}

}  // namespace
}  // namespace trine
