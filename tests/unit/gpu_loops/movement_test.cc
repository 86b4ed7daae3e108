#include "rows.h"

namespace trine {
namespace {

using namespace test;

TEST(GpuMovement, TransposesAndViews) {
  run_all(view_rows());
  run({"f32[70,33]", "%r = transpose %x {perm=[1,0]}", 0});
  run({"f16[64,64]", "%r = transpose %x {perm=[1,0]}", 0});
  run({"u8[3,33,65]", "%r = transpose %x {perm=[0,2,1]}", 0});
  run({"f64[2,3,4,5]", "%r = transpose %x {perm=[0,2,3,1]}", 0});
  run({"f32[2,35,64], f32[2,64,35], f32[35]",
       "%a = transpose %x {perm=[0,2,1]};%b = add %a %y;%c = mul %b %z;%r = relu %c", 0});
  run({"i64[2,20,5,7]", "%r = transpose %x {perm=[0,2,3,1]}", 0});
  run({"f32[40,33], bf16[40,33], f32[33,40]",
       "%a = transpose %x {perm=[1,0]};%b = cast %y {to=\"f32\"};%c = transpose %b {perm=[1,0]};%d = add %a %c;"
       "%r = mul %d %z",
       0});
}

TEST(GpuMovement, PadsSlicesConcats) { run_all(pad_slice_concat_rows()); }

TEST(GpuMovement, QuantisedTypes) {
  run({"f32[4,65]",
       "%s = const f32[]{0.5};%z = const u8[]{3};%a = quantize_linear %x %s %z;%r = dequantize_linear %a %s %z", 0});
  run({"f32[4,64]", "%s = const f32[]{0.5};%z = const i8[]{3};%r = quantize_linear %x %s %z", 0});
}

TEST(GpuMovement, OffItsAlignment) {
  for (size_t shift : {4, 8}) {
    DeviceOptions options;
    options.shift = shift;
    run({"f32[4,64], f32[64]", "%a = add %x %y;%r = relu %a", 0}, options);
    run({"f32[4,64]", "%r = softmax %x {axis=1}"}, options);
    run({"f32[64,32]", "%r = transpose %x {perm=[1,0]}", 0}, options);
  }
}

// Indices of 64 bits, packs of 32 bytes, kernels that wait for the one before.
TEST(GpuMovement, OtherTargets) {
  DeviceOptions wide, long_packs, waiting;
  wide.target.wide_index = true;
  long_packs.target.pack_bytes = 32;
  waiting.target.overlap = true;
  for (const DeviceOptions& options : {wide, long_packs, waiting}) {
    run({"f32[4,64], f32[64]", "%a = add %x %y;%r = relu %a", 0}, options);
    run({"f16[5,256]", "%r = softmax %x {axis=1}", 2e-3}, options);
    run({"i32[1,40,64]", "%a = const i64[1]{1};%r = reduce_sum %x %a {keepdims=0}", 0}, options);
    run({"i32[36000]", "%a = const i64[1]{0};%r = reduce_sum %x %a {keepdims=0}", 0}, options);
    run({"f32[3,33,40]", "%r = transpose %x {perm=[0,2,1]}", 0}, options);
    run({"f32[3,70], f32[3,33]", "%r = concat %x %y {axis=1}", 0}, options);
  }
}

}  // namespace
}  // namespace trine
