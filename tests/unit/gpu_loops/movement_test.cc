#include "rows.h"

namespace trine {
namespace {

using namespace test;

TEST(GpuMovement, TransposesAndViews) {
  run({"f32[5,7]", "%r = transpose %x {perm=[1,0]}", 0});
  run({"f32[70,33]", "%r = transpose %x {perm=[1,0]}", 0});
  run({"f16[64,64]", "%r = transpose %x {perm=[1,0]}", 0});
  run({"u8[3,33,65]", "%r = transpose %x {perm=[0,2,1]}", 0});
  run({"f64[2,3,4,5]", "%r = transpose %x {perm=[0,2,3,1]}", 0});
  run({"f32[2,3,4,5]", "%r = transpose %x {perm=[3,1,0,2]}", 0});
  run({"f32[2,35,64], f32[2,64,35], f32[35]",
       "%a = transpose %x {perm=[0,2,1]};%b = add %a %y;%c = mul %b %z;%r = relu %c", 0});
  run({"i64[2,20,5,7]", "%r = transpose %x {perm=[0,2,3,1]}", 0});
  run({"f32[40,33], bf16[40,33], f32[33,40]",
       "%a = transpose %x {perm=[1,0]};%b = cast %y {to=\"f32\"};%c = transpose %b {perm=[1,0]};%d = add %a %c;"
       "%r = mul %d %z",
       0});
  run({"f32[6,35], f32[2,3,35]", "%s = const i64[3]{2,3,35};%a = reshape %x %s;%r = add %a %y", 0});
  run({"f32[6,35], f32[10,21]", "%s = const i64[2]{10,21};%a = reshape %x %s;%r = add %a %y", 0});
  run({"f32[4,6]", "%s = const i64[3]{4,2,3};%a = reshape %x %s;%r = transpose %a {perm=[1,0,2]}", 0});
  run({"f32[1,5]", "%s = const i64[2]{6,5};%r = expand %x %s", 0});
}

TEST(GpuMovement, PadsSlicesConcats) {
  run({"f32[3,7]", "%p = const i64[4]{1,2,0,3};%r = pad %x %p", 0});
  run({"f32[3,70], f32[3,33]", "%r = concat %x %y {axis=1}", 0});
  run({"f32[3,70], f32[5,70]", "%a = concat %x %y {axis=0};%r = relu %a", 0});
  run({"f32[3,70]",
       "%s = const i64[1]{5};%e = const i64[1]{60};%a = const i64[1]{1};%t = const i64[1]{3};"
       "%r = slice %x %s %e %a %t",
       0});
  run({"f32[9,70]", "%i = const i64[4]{8,0,-1,3};%r = gather %x %i {axis=0}", 0});
  run({"f32[9,70]", "%i = const i64[4]{8,0,-1,3};%r = gather %x %i {axis=1}", 0});
  run({"f32[1,8,3,5]", "%r = depth_to_space %x {blocksize=2}", 0});
  run({"i8[1,2,6,6]", "%r = space_to_depth %x {blocksize=2}", 0});
  run({"f32[3,70]", "%p = const i64[4]{0,2,0,2};%a = relu %x;%b = pad %a %p;%r = softmax %b {axis=-1}"});
}

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
