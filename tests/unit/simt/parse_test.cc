// What parse tells about kernels, parameters, variables and mistakes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "compile.h"

namespace trine::simt {
namespace {

struct ParameterCase {
  const char* why;
  const char* parameters;
  std::vector<Parameter> expected;
  uint32_t bytes;
};

const ParameterCase kParameterCases[] = {
    {"none", "", {}, 0},
    {"pointers, float, int", "float* x, float a, int n", {{0, 8}, {8, 4}, {12, 4}}, 16},
    {"bool is a byte", "bool b, double d, bool c", {{0, 1}, {8, 8}, {16, 1}}, 17},
    {"narrow ones pack", "bool b, short s, char c, long long l", {{0, 1}, {2, 2}, {4, 1}, {8, 8}}, 16},
    {"enumerations", "E e, unsigned char c, E f", {{0, 4}, {4, 1}, {8, 4}}, 12},
    {"structs by value", "P p, char c, Q q", {{0, 24}, {24, 1}, {28, 8}}, 36},
    {"vectors are aligned",
     "char c, float4 v, char d, float3 w, char2 e",
     {{0, 1}, {16, 16}, {32, 1}, {36, 12}, {48, 2}},
     50},
    {"an empty struct is a byte", "Empty e, int i", {{0, 1}, {4, 4}}, 8},
    {"over-aligned", "char c, Wide w", {{0, 1}, {64, 64}}, 128},
    {"references are pointers", "int& r, const P& p", {{0, 8}, {8, 8}}, 16},
    {"128 bits", "char c, __int128 i", {{0, 1}, {16, 16}}, 32},
    {"arrays in structs", "Array a, short s", {{0, 12}, {12, 2}}, 14},
    {"dim3", "short s, dim3 d", {{0, 2}, {4, 12}}, 16},
    {"members of classes", "int S::* m, char c", {{0, 8}, {8, 1}}, 9},
};

TEST(Parse, ParametersLieWhereTheHostHasThem) {
  const std::string types = R"(
      struct P { char c; double d; short s; };
      struct Q { short s; int i; };
      enum E { first };
      struct Empty {};
      struct alignas(64) Wide { int i; };
      struct Array { int a[3]; };
      struct S { int i; };
      __global__ void k()";
  for (const ParameterCase& row : kParameterCases) {
    const DeviceModule module = parsed(types + row.parameters + ") {}");
    ASSERT_EQ(module.kernels.size(), 1u) << row.why;
    const KernelInfo& kernel = module.kernels[0];
    ASSERT_EQ(kernel.parameters.size(), row.expected.size()) << row.why;
    for (size_t i = 0; i < row.expected.size(); ++i) {
      EXPECT_EQ(kernel.parameters[i].offset, row.expected[i].offset) << row.why << ": offset of " << i;
      EXPECT_EQ(kernel.parameters[i].bytes, row.expected[i].bytes) << row.why << ": bytes of " << i;
    }
    EXPECT_EQ(kernel.parameter_bytes, row.bytes) << row.why;
  }
}

TEST(Parse, KernelsAreNamedAsInTheSource) {
  const DeviceModule module = parsed(R"(
      namespace n { __global__ void inner(float* x, unsigned n) {} }
      extern "C" __global__ void plain(int) {}
      __global__ __launch_bounds__(128) void bounded() {}
      __global__ void __launch_bounds__(64, 2) bounded_twice() {}
      __device__ int helper() { return 1; })");
  ASSERT_EQ(module.kernels.size(), 4u);
  EXPECT_EQ(module.kernels[0].symbol, "_ZN1n5innerEPfj");
  EXPECT_EQ(module.kernels[0].name, "n::inner(float*, unsigned int)");
  EXPECT_EQ(module.kernels[0].most_threads, 1024u);
  EXPECT_EQ(module.kernels[1].symbol, "plain");
  EXPECT_EQ(module.kernels[1].name, "plain");
  EXPECT_EQ(module.kernels[2].most_threads, 128u);
  EXPECT_EQ(module.kernels[3].most_threads, 64u);
  EXPECT_GT(module.bitcode.size(), 100u);
}

TEST(Parse, VariablesHaveSizesAndKinds) {
  const DeviceModule module = parsed(R"(
      __device__ int counter = 3;
      __constant__ float table[10];
      namespace n { __device__ double d; }
      __managed__ int shared_with_host[4];
      __device__ float4 v;
      static __constant__ short hidden[3] = {1, 2, 3};
      namespace { __device__ int unnamed; }
      __global__ void k() { __shared__ int s; s = counter + hidden[s] + unnamed; printf("text"); })");
  ASSERT_EQ(module.variables.size(), 7u);
  EXPECT_EQ(module.variables[0].name, "counter");
  EXPECT_EQ(module.variables[0].bytes, 4u);
  EXPECT_FALSE(module.variables[0].constant);
  EXPECT_EQ(module.variables[1].name, "table");
  EXPECT_EQ(module.variables[1].bytes, 40u);
  EXPECT_TRUE(module.variables[1].constant);
  EXPECT_EQ(module.variables[2].name, "n::d");
  EXPECT_EQ(module.variables[2].symbol, "_ZN1n1dE");
  EXPECT_EQ(module.variables[3].name, "shared_with_host");
  EXPECT_TRUE(module.variables[3].managed);
  EXPECT_EQ(module.variables[3].bytes, 16u);
  EXPECT_FALSE(module.variables[4].managed);
  EXPECT_EQ(module.variables[5].name, "hidden");
  EXPECT_EQ(module.variables[5].bytes, 6u);
  EXPECT_EQ(module.variables[6].name, "(anonymous namespace)::unnamed");
}

TEST(Parse, InstancesAreKernelsUnderTheirNames) {
  compute::CompileOptions options;
  options.instances = {"scale<float>", "scale<unsigned>", "n::fill<3, true>", "n::fill<(1 < 2), false>"};
  const DeviceModule module = parsed(R"(
      template <class T> __global__ void scale(T* x, T a, int n) { x[threadIdx.x] *= a; }
      namespace n { template <int V, bool B> __global__ void fill(int* x) { *x = B ? V : -V; } })",
                                     options);
  ASSERT_EQ(module.kernels.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(module.kernels[i].aliases, std::vector{options.instances[i]});
  EXPECT_EQ(module.kernels[0].name, "scale<float>(float*, float, int)");
  EXPECT_EQ(module.kernels[1].name, "scale<unsigned int>(unsigned int*, unsigned int, int)");
  EXPECT_EQ(module.kernels[2].name, "n::fill<3, true>(int*)");
}

TEST(Parse, EveryMistakeIsToldWithItsPlace) {
  compute::CompileOptions options;
  options.name = "wrong.cu";
  const std::string message = refused("__global__ void k(int* x) {\n  *x = y;\n  int z = \"text\";\n}\n", options);
  EXPECT_TRUE(message.starts_with("compile: wrong.cu has 2 errors\n")) << message;
  EXPECT_NE(message.find("wrong.cu:2:8: error: use of undeclared identifier 'y'"), std::string::npos) << message;
  EXPECT_NE(message.find("wrong.cu:3:7: error: cannot initialize a variable of type 'int'"), std::string::npos)
      << message;
}

struct MistakeCase {
  const char* why;
  const char* source;
  const char* expected;
};

const MistakeCase kMistakeCases[] = {
    {"host code from the device", "void f(); __global__ void k() { f(); }",
     "kernel.cu:1:33: error: no matching function for call to 'f'"},
    {"kernels return nothing", "__global__ int k() { return 1; }",
     "kernel.cu:1:12: error: kernel function type 'int ()' must have void return type"},
    {"no file", "#include <nothing.h>\n", "kernel.cu:1:10: fatal error: 'nothing.h' file not found"},
    {"exceptions", "__global__ void k() { throw 1; }",
     "kernel.cu:1:23: error: cannot use 'throw' in __global__ function"},
    {"unknown register in PTX", "__global__ void k(int* x) { asm(\"mov.u32 %0, 1;\" : \"=z\"(*x)); }",
     "kernel.cu:1:52: error: invalid output constraint '=z' in asm"},
    {"long double, which host and device see differently", "__global__ void k(int i, long double x) {}",
     "kernel.cu:1:38: error: kernel parameter x holds a long double"},
    {"one within", "struct S { int i; struct { long double d[2]; } s; };\nnamespace n { __global__ void k(S s) {} }",
     "kernel.cu:2:35: error: kernel parameter s holds a long double"},
    {"one in an instance", "template <class T> __global__ void k(T t) {}\nvoid f() { k<<<1, 1>>>(1.0L); }",
     "kernel.cu:1:40: error: kernel parameter t holds a long double"},
    {"what clang lets pass", "__global__ void k(int* x) { thread_local int y; *x = y; }",
     "compile: kernel.cu has what the device lacks: llvm.threadlocal.address"},
    {"#error", "#error stop here", "kernel.cu:1:2: error: stop here"},
};

TEST(Parse, Mistakes) {
  for (const MistakeCase& row : kMistakeCases) {
    const std::string message = refused(row.source);
    EXPECT_NE(message.find(row.expected), std::string::npos) << row.why << "\n" << message;
  }
}

TEST(Parse, OptionsReachTheCompiler) {
  compute::CompileOptions options;
  options.defines = {"ONE", "TWO=2"};
  options.headers = {{"given.h", "#define THREE 3\n"}, {"deep/inner.h", "#include \"given.h\"\n#define FOUR 4\n"}};
  options.standard = 17;
  parsed(
      "#include \"given.h\"\n#include <deep/inner.h>\n"
      "static_assert(ONE == 1 && TWO == 2 && THREE == 3 && FOUR == 4);\n"
      "static_assert(__cplusplus == 201703L);\n",
      options);
  options.standard = 11;
  EXPECT_EQ(refused("", options), "compile: standard 11; accepted are 14, 17, 20");
  options = {.instances = {"missing<int>"}};
  EXPECT_NE(refused("", options).find("<instances>:1:1: error: use of undeclared identifier 'missing'"),
            std::string::npos)
      << refused("", options);
}

TEST(Parse, AnyNameWillDo) {
  for (const char* name : {"", "-", "-O3", "a b.cu", "folder/kernel.cu", "/absolute/kernel.cu", "no_extension"}) {
    const std::string message = refused("__global__ void k() { x; }", {.name = name});
    EXPECT_NE(message.find(":1:23: error: use of undeclared identifier 'x'"), std::string::npos) << message;
  }
}

TEST(Parse, FoldersAreSearched) {
  const std::string folder = ::testing::TempDir() + "simt_parse_" + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/inner");
  std::ofstream(folder + "/inner/on_disk.h") << "#include \"beside.h\"\n";
  std::ofstream(folder + "/inner/beside.h") << "constexpr int kBeside = 3;\n";
  const char* source = "#include <on_disk.h>\nstatic_assert(kBeside == 3);\n";
  parsed(source, {.include_dirs = {folder + "/inner"}});
  parsed("#include \"inner/on_disk.h\"\nstatic_assert(kBeside == 3);\n", {.name = folder + "/kernel.cu"});
  EXPECT_NE(refused(source).find("'on_disk.h' file not found"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Parse, ThreadsMayParseAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i, &good] {
      for (int j = 0; j < 5; ++j) {
        const std::string name = "k" + std::to_string(i) + std::to_string(j);
        const DeviceModule module =
            parsed("extern \"C\" __global__ void " + name + "(int* x) { *x = " + name[1] + "; }",
                   {.standard = i % 2 ? 17 : 20});
        const std::string text = compiler().ptx(module, "sm_80", 80, false);
        good += module.kernels.size() == 1 && module.kernels[0].name == name && text.find(name) != std::string::npos;
        refused("__global__ void k() { x; }");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 20);
}

TEST(Parse, WarningsComeWithTheModule) {
  const DeviceModule module = parsed("#warning careful\n__global__ void k() {}");
  EXPECT_NE(module.warnings.find("kernel.cu:1:2: warning: careful"), std::string::npos) << module.warnings;
  EXPECT_EQ(parsed("__global__ void k() {}").warnings, "");
}

}  // namespace
}  // namespace trine::simt
