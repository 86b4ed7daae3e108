// What a test tells the driver that only pretends: a library with the functions of libcuda.so.1 that Trine calls, whose
// device is the host's memory. Work is done when it is given; kernels are functions of the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/cuda/api.h"

namespace trine::fake {

struct Launch {
  unsigned grid[3], block[3], shared_bytes;
  bool cooperative;
  void** arguments;
  unsigned cluster[3] = {1, 1, 1};
  bool overlap = false;
};

struct Settings {
  int version = 13000;
  int devices = 2;
  int major = 9, minor = 0;
  size_t memory_bytes = size_t{1} << 20;
  bool pools = true;
};

Settings& settings();
void reset();  // everything: settings, failures, counts, the lost context; not memory that is still allocated

// Call number `after` from now of this function, and those that follow, up to `times`, return `result`.
void fail(const std::string& function, cuda::Result result, int after = 0, int times = 1);
int calls(const std::string& function);
// What a kernel does that harms: from the next call on, all return this.
void lose_context(cuda::Result result);

// A kernel by its symbol, with the sizes of its parameters.
void define(const std::string& symbol, std::vector<size_t> parameter_bytes, std::function<void(const Launch&)> run);

// What texture and surface objects were made with, and textures how they are read, in the order of calls.
std::vector<cuda::ResourceDescriptor>& resources();
std::vector<cuda::TextureDescriptor>& textures();

size_t bytes_allocated();  // on the device, now
size_t objects();          // streams, events, modules, graphs that are there now

}  // namespace trine::fake
