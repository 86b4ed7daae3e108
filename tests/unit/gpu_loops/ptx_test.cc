// What is written is taken by the compiler for every architecture.
#include "device.h"
#include "trine/compute/program.h"

namespace trine {
namespace {

using namespace test;

TEST(GpuPtx, EveryArchitecture) {
  for (const char* text :
       {"graph(%x: bf16[70,64], %y: f32[64]) {\n  %a = cast %x {to=\"f32\"}\n  %b = mul %a %y\n  %c = gelu %b\n"
        "  %d = cast %c {to=\"bf16\"}\n  return %d\n}\n",
        "graph(%x: f16[9,1024]) {\n  %a = softmax %x {axis=1}\n  return %a\n}\n",
        "graph(%x: f64[2,49,64]) {\n  %p = const i64[1]{1}\n  %a = reduce_max %x %p {keepdims=0}\n  return %a\n}\n",
        "graph(%x: i8[5,31]) {\n  %a = transpose %x {perm=[1,0]}\n  return %a\n}\n"}) {
    const codegen::Lowered lowered = codegen::lower_group(parse(text));
    ASSERT_TRUE(lowered) << lowered.refusal;
    const auto call = codegen::render_cuda(lowered.kernels.at(0), no_symbols(), {.multiprocessors = 20});
    for (const auto& launch : call.launches) {
      const compute::CompileOptions options{.name = launch.source->name, .headers = dnn::device_headers()};
      std::string bytes;
      try {
        bytes = compute::compile_program(launch.source->text, options,
                                         {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120"})
                    .bytes;
      } catch (const Error& e) {
        FAIL() << e.what() << "\n" << launch.source->text;
      }
      for (const char* target : {".target sm_75", ".target sm_80", ".target sm_90", ".target sm_120"})
        EXPECT_NE(bytes.find(target), std::string::npos) << target;
    }
  }
}

}  // namespace
}  // namespace trine
