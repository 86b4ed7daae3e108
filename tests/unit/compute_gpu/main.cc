// The tests, on the GPU of this machine. Without a compiler here, kernels come from the cache, which
//   test_compute_gpu --fill-cache sm_90 90 [FILE...]
// fills where the compiler is, for an architecture and a version of PTX; files are more sources.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "simt/run/compile_ptx.h"
#include "sources.h"
#include "trine/base/error.h"

namespace {

int fill_cache(const char* architecture, int version, int files, char** paths) {
  const trine::simt::Cache cache(trine::simt::cache_folder());
  std::vector<std::string> sources;
  for (const char* source : trine::compute::gpu_sources()) sources.emplace_back(source);
  for (int i = 0; i < files; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    sources.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  try {
    for (const std::string& source : sources) trine::simt::compile_ptx(source, {}, architecture, version, cache);
  } catch (const trine::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4 && !std::strcmp(argv[1], "--fill-cache"))
    return fill_cache(argv[2], std::atoi(argv[3]), argc - 4, argv + 4);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
