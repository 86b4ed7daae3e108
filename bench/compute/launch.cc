// What a kernel launch costs on the host: Kernel::launch and Graph::launch beside the CUDA driver's functions called
// directly.
//
//   bench_launch              on cuda:0
//
// Bursts of 256 launches of an empty kernel and one synchronisation; bursts of both kinds alternate, so that the
// machine's clocks change for both. Printed: median and quartiles of nanoseconds per launch, and their ratio.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "trine/base/error.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"

namespace {

using trine::compute::Device;
using trine::compute::Graph;
using trine::compute::Kernel;
using trine::compute::Module;
using trine::compute::Stream;

constexpr int kBurst = 256, kBursts = 301, kNodes = 64;

constexpr const char* kSource = R"(
__global__ void none() {}
__global__ void four(float* x, const float* y, float a, int n) {}
__global__ void twelve(float* a, float* b, float* c, float* d, int e, int f, int g, int h, float i, float j, float k, float l) {}
)";

// The same for the driver alone.
constexpr const char* kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry none() { ret; }
.visible .entry four(.param .u64 a, .param .u64 b, .param .f32 c, .param .u32 d) { ret; }
.visible .entry twelve(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 e, .param .u32 f,
                       .param .u32 g, .param .u32 h, .param .f32 i, .param .f32 j, .param .f32 k, .param .f32 l)
{ ret; }
)";

// Functions of libcuda.so.1 as NVIDIA documents them; handles are pointers.
struct Driver {
  int (*retain)(void** context, int device);
  int (*set_current)(void* context);
  int (*load)(void** module, const void* image);
  int (*function)(void** function, void* module, const char* name);
  int (*create_stream)(void** stream, unsigned flags);
  int (*synchronize)(void* stream);
  int (*launch)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                void** arguments, void** extra);
  int (*begin_capture)(void* stream, int mode);
  int (*end_capture)(void* stream, void** graph);
  int (*instantiate)(void** exec, void* graph, unsigned long long flags);
  int (*launch_graph)(void* exec, void* stream);
};

template <class F>
void load(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (!function) throw trine::Error(trine::ErrorCode::device, std::string("the driver has no ") + name);
}

void check(int result) {
  if (result) throw trine::Error(trine::ErrorCode::device, "CUDA error " + std::to_string(result));
}

Driver open_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) throw trine::Error(trine::ErrorCode::device, dlerror());
  Driver d{};
  load(library, d.retain, "cuDevicePrimaryCtxRetain");
  load(library, d.set_current, "cuCtxSetCurrent");
  load(library, d.load, "cuModuleLoadData");
  load(library, d.function, "cuModuleGetFunction");
  load(library, d.create_stream, "cuStreamCreate");
  load(library, d.synchronize, "cuStreamSynchronize");
  load(library, d.launch, "cuLaunchKernel");
  load(library, d.begin_capture, "cuStreamBeginCapture_v2");
  load(library, d.end_capture, "cuStreamEndCapture");
  load(library, d.instantiate, "cuGraphInstantiateWithFlags");
  load(library, d.launch_graph, "cuGraphLaunch");
  return d;
}

struct Spread {
  double low, median, high;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {values[n / 4], values[n / 2], values[n * 3 / 4]};
}

double nanoseconds_each(const std::function<void()>& burst, const std::function<void()>& wait) {
  using Clock = std::chrono::steady_clock;
  wait();
  const auto begin = Clock::now();
  burst();
  const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;  // the host's part
  wait();
  return spent.count() / kBurst;
}

struct Side {
  std::function<void()> burst, wait;
};

void compare(const char* name, const Side& plain, const Side& ours) {
  std::vector<double> plain_ns, our_ns;
  for (int i = 0; i < kBursts; ++i) {
    plain_ns.push_back(nanoseconds_each(plain.burst, plain.wait));
    our_ns.push_back(nanoseconds_each(ours.burst, ours.wait));
  }
  plain_ns.erase(plain_ns.begin(), plain_ns.begin() + 20);  // warm-up
  our_ns.erase(our_ns.begin(), our_ns.begin() + 20);
  const Spread p = spread_of(plain_ns), o = spread_of(our_ns);
  std::printf("%-22s %7.0f %7.0f %7.0f  %7.0f %7.0f %7.0f  %5.3f\n", name, p.low, p.median, p.high, o.low, o.median,
              o.high, o.median / p.median);
}

template <class Launch>
std::function<void()> repeated(const Launch& launch) {
  return [launch] {
    for (int i = 0; i < kBurst; ++i) launch();
  };
}

void run() {
  const Driver driver = open_driver();
  const Device gpu = Device::open("cuda:0");
  Stream stream = gpu.create_stream();
  const Module module = Module::compile(gpu, kSource);
  void *context = nullptr, *plain_module = nullptr, *plain_stream = nullptr;
  check(driver.retain(&context, 0));
  check(driver.set_current(context));
  check(driver.load(&plain_module, kPtx));
  check(driver.create_stream(&plain_stream, 1));
  const auto plain_wait = [&] { check(driver.synchronize(plain_stream)); };
  const auto our_wait = [&] { stream.synchronize(); };

  float *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  int e = 1, f = 2, g = 3, h = 4;
  float i = 1, j = 2, k = 3, l = 4;
  void* of_none[] = {nullptr};
  void* of_four[] = {&a, &b, &i, &e};
  void* of_twelve[] = {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l};
  const Kernel none = module.kernel("none"), four = module.kernel("four"), twelve = module.kernel("twelve");
  const auto plain = [&](const char* name, void** arguments) {
    void* function = nullptr;
    check(driver.function(&function, plain_module, name));
    return [&driver, function, arguments, &plain_stream] {
      check(driver.launch(function, 1, 1, 1, 128, 1, 1, 0, plain_stream, arguments, nullptr));
    };
  };
  const auto plain_none = plain("none", of_none), plain_four = plain("four", of_four);
  const auto our_none = [&] { none.launch(stream, {.block = {128}}); };
  const auto our_four = [&] { four.launch(stream, {.block = {128}}, a, b, i, e); };
  const auto our_twelve = [&] { twelve.launch(stream, {.block = {128}}, a, b, c, d, e, f, g, h, i, j, k, l); };

  std::printf("host nanoseconds per launch, %s\n", gpu.info().name.c_str());
  std::printf("%-22s %7s %7s %7s  %7s %7s %7s  %5s\n", "", "driver", "median", "", "trine", "median", "", "ratio");
  compare("no arguments", {repeated(plain_none), plain_wait}, {repeated(our_none), our_wait});
  compare("4 arguments", {repeated(plain_four), plain_wait}, {repeated(our_four), our_wait});
  compare("12 arguments", {repeated(plain("twelve", of_twelve)), plain_wait}, {repeated(our_twelve), our_wait});

  void *plain_graph = nullptr, *plain_exec = nullptr;
  check(driver.begin_capture(plain_stream, 2));
  for (int node = 0; node < kNodes; ++node) plain_four();
  check(driver.end_capture(plain_stream, &plain_graph));
  check(driver.instantiate(&plain_exec, plain_graph, 0));
  stream.begin_capture();
  for (int node = 0; node < kNodes; ++node) our_four();
  const Graph graph = stream.end_capture();
  compare("graph of 64 kernels", {repeated([&] { check(driver.launch_graph(plain_exec, plain_stream)); }), plain_wait},
          {repeated([&] { graph.launch(stream); }), our_wait});
}

}  // namespace

int main() {
  try {
    run();
  } catch (const trine::Error& e) {
    std::fprintf(stderr, "bench_launch: %s\n", e.what());
    return static_cast<int>(e.code());
  }
  return 0;
}
