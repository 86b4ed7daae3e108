#include "simt/run/cache.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "simt/run/cache_key.h"
#include "simt/run/compile_ptx.h"
#include "simt/run/find_kernel.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

namespace fs = std::filesystem;
using compute::CompileOptions;

// A folder of its own for each test.
class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/trine_cache_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }
  std::string folder_;
};

std::string random_bytes(size_t count) {
  const unsigned seed = std::random_device{}();
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST_F(CacheTest, KeepsBytes) {
  const Cache cache(folder_ + "/a/b");
  EXPECT_EQ(cache.find("k"), std::nullopt);
  for (const size_t count : {0, 1, 31, 32, 33, 96, 256, 1024, 100000}) {
    const std::string bytes = random_bytes(count);
    cache.store("k", bytes);
    EXPECT_EQ(cache.find("k"), bytes);
    EXPECT_EQ(Cache(folder_ + "/a/b").find("k"), bytes);
  }
  EXPECT_EQ(cache.find("l"), std::nullopt);
}

TEST_F(CacheTest, DamagedEntriesAreAsIfTheyWereNotThere) {
  const Cache cache(folder_);
  cache.store("k", random_bytes(50));
  const std::string whole = read("k");
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write("k", damaged);
    EXPECT_EQ(cache.find("k"), std::nullopt) << i;
    write("k", whole.substr(0, i));
    EXPECT_EQ(cache.find("k"), std::nullopt) << i;
  }
  write("k", whole + "x");
  EXPECT_EQ(cache.find("k"), std::nullopt);
  cache.store("k", "new");
  EXPECT_EQ(cache.find("k"), "new");
}

TEST_F(CacheTest, WhatWasNotUsedForLongestGoes) {
  const Cache cache(folder_, 10000);
  const auto age = [&](const std::string& name, int hours) {
    fs::last_write_time(folder_ + "/" + name, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char* name : {"a", "b", "c"}) cache.store(name, random_bytes(3000));
  age("a", 3);
  age("b", 2);
  age("c", 1);
  EXPECT_TRUE(cache.find("a"));  // now it is the newest
  cache.store("d", random_bytes(3000));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_FALSE(cache.find("c"));  // down to three quarters
  EXPECT_TRUE(cache.find("d"));
  cache.store("e", random_bytes(10001));
  EXPECT_FALSE(cache.find("e"));
  EXPECT_TRUE(cache.find("d"));
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsNoError) {
  write("file", "");
  const Cache below_a_file(folder_ + "/file");
  below_a_file.store("k", "x");
  EXPECT_EQ(below_a_file.find("k"), std::nullopt);
  const Cache none("");
  none.store("k", "x");
  EXPECT_EQ(none.find("k"), std::nullopt);
}

TEST_F(CacheTest, ManyThreadsStoreOneKey) {
  const Cache cache(folder_);
  const std::string a(5000, 'a'), b(7000, 'b');
  cache.store("k", a);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (t % 2) cache.store("k", i % 2 ? a : b);
        const auto found = cache.find("k");
        EXPECT_TRUE(found == a || found == b);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CacheTest, FolderComesFromTheEnvironment) {
  setenv("TRINE_CACHE", "/x", 1);
  EXPECT_EQ(cache_folder(), "/x/kernels");
  setenv("TRINE_CACHE", "off", 1);
  EXPECT_EQ(cache_folder(), "");
  unsetenv("TRINE_CACHE");
  setenv("XDG_CACHE_HOME", "/c", 1);
  EXPECT_EQ(cache_folder(), "/c/trine/kernels");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder(), "");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/h", 1);
  EXPECT_EQ(cache_folder(), "/h/.cache/trine/kernels");
}

TEST_F(CacheTest, KeysFollowWhatCodeDependsOn) {
  const CompileOptions plain;
  const auto key = [](const CompileOptions& options) { return cache_key("int x;", options, "ptx sm_90 80"); };
  std::set<std::string> keys = {*key(plain)};
  EXPECT_EQ(key(plain)->size(), 32u);
  EXPECT_TRUE(keys.insert(*cache_key("int y;", plain, "ptx sm_90 80")).second);
  EXPECT_TRUE(keys.insert(*cache_key("int x;", plain, "ptx sm_80 80")).second);
  const auto differs = [&](auto change) {
    CompileOptions options;
    change(options);
    EXPECT_TRUE(keys.insert(*key(options)).second);
  };
  differs([](CompileOptions& o) { o.defines = {"A"}; });
  differs([](CompileOptions& o) { o.defines = {"A", "B"}; });
  differs([](CompileOptions& o) { o.defines = {"AB"}; });
  differs([](CompileOptions& o) { o.instances = {"A"}; });
  differs([](CompileOptions& o) { o.headers = {{"a.h", "1"}}; });
  differs([](CompileOptions& o) { o.headers = {{"a.h", "2"}}; });
  differs([](CompileOptions& o) { o.standard = 17; });
  differs([](CompileOptions& o) { o.debug = true; });
  differs([](CompileOptions& o) { o.fast_math = true; });
  CompileOptions elsewhere;
  elsewhere.include_dirs = {"/nowhere"};
  EXPECT_EQ(key(elsewhere), key(plain));
}

TEST_F(CacheTest, KeysFollowIncludedFilesAndNotTheirFolders) {
  for (const char* place : {"one", "two"}) {
    write(std::string(place) + "/a.h", "#pragma once\n#  include \"sub/b.h\"\n");
    write(std::string(place) + "/sub/b.h", "#include \"c.h\"\n#include <cmath>\n");
    write(std::string(place) + "/sub/c.h", "int c;\n");
  }
  CompileOptions one, two;
  one.include_dirs = {"/nowhere", folder_ + "/one"};
  two.include_dirs = {folder_ + "/two"};
  const auto key = [](const CompileOptions& o) { return cache_key("#include <a.h>\n", o, "t"); };
  const std::optional<std::string> before = key(one);
  ASSERT_TRUE(before);
  EXPECT_EQ(key(two), before);
  write("two/sub/c.h", "int d;\n");
  EXPECT_NE(key(two), before);
  write("two/sub/c.h", "#include MACRO\n");
  EXPECT_EQ(key(two), std::nullopt);
  EXPECT_EQ(cache_key("#if __has_include(<x>)\n", one, "t"), std::nullopt);
  EXPECT_EQ(cache_key("# embed \"x\"", one, "t"), std::nullopt);
}

PtxModule example() {
  PtxModule module;
  module.ptx = std::string("text\0with a zero", 16);
  module.info.warnings = "w";
  module.info.kernels = {{"_Z1fPf", "f(float*)", {{0, 8}, {8, 4}}, 12, 128, 256}, {"g", "g", {}, 0, 0, 1024}};
  module.info.kernels[1].aliases = {"h<T>", "h<U>"};
  module.info.variables = {{"_ZL1v", "v", 400, true, false}, {"m", "m", 8, false, true}};
  return module;
}

TEST(PtxModule, IsReadAsItWasWritten) {
  const std::string bytes = encode(example());
  const std::optional<PtxModule> back = decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(back->ptx, example().ptx);
  ASSERT_EQ(back->info.kernels.size(), 2u);
  EXPECT_EQ(back->info.kernels[0].parameters[1].offset, 8u);
  EXPECT_EQ(back->info.kernels[0].most_threads, 256u);
  EXPECT_EQ(back->info.kernels[1].aliases, example().info.kernels[1].aliases);
  EXPECT_TRUE(back->info.variables[0].constant);
  EXPECT_TRUE(back->info.variables[1].managed);
}

TEST(PtxModule, DamageIsNoticedOrHarmless) {
  const std::string bytes = encode(example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode(bytes.substr(0, i))) << i;
    for (const int bit : {1, 0x80}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      decode(damaged);  // sanitizers see what it does
    }
  }
  EXPECT_FALSE(decode(bytes + "x"));
}

TEST(FindKernel, TakesTheNamesThatPeopleWrite) {
  DeviceModule module;
  for (const auto& [symbol, name] : {std::pair{"_Z5scalePfi", "scale(float*, int)"},
                                     {"_Z3sumIfEvPT_", "void sum<float>(float*)"},
                                     {"_Z3sumIdEvPT_", "void sum<double>(double*)"},
                                     {"_Z1fi", "f(int)"},
                                     {"_Z1fPFivE", "f(int (*)())"},
                                     {"plain", "plain"},
                                     {"_ZN2ns1gEv", "ns::g()"},
                                     {"_Z3mapILi4ELi5EEvv", "void map<4, 5>()"}})
    module.kernels.push_back({symbol, name, {}, 0, 0, 1024});
  module.kernels[1].aliases = {"sum<T>"};
  module.variables = {{"_ZL5table", "table", 4, true, false}};
  const auto symbol = [&](std::string_view name) {
    const KernelInfo* kernel = find_kernel(module, name);
    return kernel ? kernel->symbol : "none";
  };
  EXPECT_EQ(symbol("scale"), "_Z5scalePfi");
  EXPECT_EQ(symbol("_Z5scalePfi"), "_Z5scalePfi");
  EXPECT_EQ(symbol("scale(float*,int)"), "_Z5scalePfi");
  EXPECT_EQ(symbol("sum<double>"), "_Z3sumIdEvPT_");
  EXPECT_EQ(symbol("sum< T >"), "_Z3sumIfEvPT_");
  EXPECT_EQ(symbol("map<4,5>"), "_Z3mapILi4ELi5EEvv");
  EXPECT_EQ(symbol("plain"), "plain");
  EXPECT_EQ(symbol("ns::g"), "_ZN2ns1gEv");
  EXPECT_EQ(symbol("f(int (*)())"), "_Z1fPFivE");
  for (const char* name : {"sum", "g", "", "scale(", "sum<int>"}) EXPECT_EQ(symbol(name), "none") << name;
  EXPECT_THROW(symbol("f"), Error);
  EXPECT_EQ(find_variable(module, "table"), find_variable(module, "_ZL5table"));
  EXPECT_EQ(find_variable(module, "x"), nullptr);
}

}  // namespace
}  // namespace trine::simt
