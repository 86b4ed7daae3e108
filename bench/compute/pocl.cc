// The same algorithms in OpenCL C, through PoCL: libOpenCL.so.1 is opened when it is asked for.
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "opencl.h"
#include "party.h"
#include "trine/base/error.h"

namespace trine::bench_compute {

namespace {

void check(cl::Status status, const char* what) {
  if (status != 0) throw Error(ErrorCode::device, fmt::format("OpenCL: {} returned {}", what, status));
}

template <class F>
bool find(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* l, cl::Functions& f) {
  return find(l, f.platforms, "clGetPlatformIDs") && find(l, f.platform_info, "clGetPlatformInfo") &&
         find(l, f.devices, "clGetDeviceIDs") && find(l, f.device_info, "clGetDeviceInfo") &&
         find(l, f.context, "clCreateContext") && find(l, f.queue, "clCreateCommandQueue") &&
         find(l, f.buffer, "clCreateBuffer") && find(l, f.program, "clCreateProgramWithSource") &&
         find(l, f.build, "clBuildProgram") && find(l, f.build_info, "clGetProgramBuildInfo") &&
         find(l, f.kernel, "clCreateKernel") && find(l, f.argument, "clSetKernelArg") &&
         find(l, f.launch, "clEnqueueNDRangeKernel") && find(l, f.write, "clEnqueueWriteBuffer") &&
         find(l, f.read, "clEnqueueReadBuffer") && find(l, f.copy, "clEnqueueCopyBuffer") &&
         find(l, f.fill, "clEnqueueFillBuffer") && find(l, f.finish, "clFinish") &&
         find(l, f.release_buffer, "clReleaseMemObject") && find(l, f.release_kernel, "clReleaseKernel") &&
         find(l, f.release_program, "clReleaseProgram");
}

template <class F>
std::string text_of(const F& info, cl::Handle of, uint32_t what) {
  char text[256] = {};
  info(of, what, sizeof text - 1, text, nullptr);
  return text;
}

}  // namespace

class OpenCl {
 public:
  cl::Functions f{};
  cl::Handle device = nullptr, context = nullptr, queue = nullptr;
  std::string name;
};

std::shared_ptr<OpenCl> open_pocl(int threads, std::string& why_not) {
  // PoCL starts a thread for each processor of the machine unless it is told. The older and the newer name.
  for (const char* variable : {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"})
    ::setenv(variable, std::to_string(threads).c_str(), 1);
  why_not = "no libOpenCL.so.1 here (Debian: ocl-icd-libopencl1 and pocl-opencl-icd)";
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  auto cl = std::make_shared<OpenCl>();
  if (!library || !find_all(library, cl->f)) return nullptr;
  why_not = "libOpenCL.so.1 knows no PoCL (Debian: pocl-opencl-icd)";
  cl::Handle platforms[16];
  uint32_t found = 0;
  if (cl->f.platforms(16, platforms, &found) != 0) return nullptr;
  for (uint32_t i = 0; i < found && i < 16 && !cl->device; ++i)
    if (text_of(cl->f.platform_info, platforms[i], cl::kPlatformName) == "Portable Computing Language" &&
        cl->f.devices(platforms[i], cl::kDeviceTypeCpu, 1, &cl->device, nullptr) != 0)
      cl->device = nullptr;
  if (!cl->device) return nullptr;
  cl::Status status = 0;
  cl->context = cl->f.context(nullptr, 1, &cl->device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl->queue = cl->f.queue(cl->context, cl->device, 0, &status);
  check(status, "clCreateCommandQueue");
  cl->name = text_of(cl->f.device_info, cl->device, cl::kDeviceName) + ", " +
             text_of(cl->f.device_info, cl->device, cl::kDeviceVersion);
  return cl;
}

std::string describe(const OpenCl& cl) { return cl.name; }

namespace {

// A case's arrays and its program for one shape of work-groups.
struct Prepared {
  Prepared(std::shared_ptr<OpenCl> with, const Case& from) : cl(std::move(with)), problem(from) {
    for (const Array& array : problem.arrays) {
      cl::Status status = 0;
      buffers.push_back(cl->f.buffer(cl->context, cl::kReadWrite, array.content.size(), nullptr, &status));
      check(status, "clCreateBuffer");
    }
  }
  Prepared(const Prepared&) = delete;
  ~Prepared() {
    for (cl::Handle buffer : buffers) cl->f.release_buffer(buffer);
    release_program();
  }

  void release_program() {
    for (const auto& [name, kernel] : kernels) cl->f.release_kernel(kernel);
    kernels.clear();
    if (program) cl->f.release_program(program);
    program = nullptr;
  }

  void build(Dim3 block) {
    release_program();
    const std::string text = held_text(problem.name + ".cl");
    const char* source = text.c_str();
    const size_t length = text.size();
    cl::Status status = 0;
    program = cl->f.program(cl->context, 1, &source, &length, &status);
    check(status, "clCreateProgramWithSource");
    const std::string options = fmt::format("-DBLOCK_X={} -DBLOCK_Y={}", block.x, block.y);
    if (cl->f.build(program, 1, &cl->device, options.c_str(), nullptr, nullptr) != 0) {
      std::string log(1 << 16, 0);
      cl->f.build_info(program, cl->device, cl::kBuildLog, log.size() - 1, log.data(), nullptr);
      throw Error(ErrorCode::invalid_argument, fmt::format("OpenCL: {}.cl: {}", problem.name, log.c_str()));
    }
    steps = problem.steps(Language::opencl, block);
    for (const Step& step : steps)
      if (!step.kernel.empty() && !kernels.count(step.kernel)) {
        kernels[step.kernel] = cl->f.kernel(program, step.kernel.c_str(), &status);
        check(status, "clCreateKernel");
      }
  }

  void reset() {
    for (size_t i = 0; i < buffers.size(); ++i) {
      const auto& content = problem.arrays[i].content;
      check(cl->f.write(cl->queue, buffers[i], 1, 0, content.size(), content.data(), 0, nullptr, nullptr), "write");
    }
  }

  void run_step(const Step& step) {
    if (step.kernel.empty()) {
      const auto to = static_cast<size_t>(step.to);
      const size_t bytes = problem.arrays[to].content.size();
      const uint32_t zero = 0;
      return check(step.from < 0 ? cl->f.fill(cl->queue, buffers[to], &zero, 4, 0, bytes, 0, nullptr, nullptr)
                                 : cl->f.copy(cl->queue, buffers[static_cast<size_t>(step.from)], buffers[to], 0, 0,
                                              bytes, 0, nullptr, nullptr),
                   "fill or copy");
    }
    const cl::Handle kernel = kernels.at(step.kernel);
    for (uint32_t i = 0; i < step.arguments.size(); ++i) {
      const Argument& a = step.arguments[i];
      check(a.array >= 0 ? cl->f.argument(kernel, i, sizeof(cl::Handle), &buffers[static_cast<size_t>(a.array)])
                         : cl->f.argument(kernel, i, a.bytes, a.value.data()),
            "clSetKernelArg");
    }
    const size_t local[] = {step.block.x, step.block.y};
    const size_t global[] = {size_t{step.grid.x} * step.block.x, size_t{step.grid.y} * step.block.y};
    const uint32_t dimensions = step.grid.y * step.block.y > 1 ? 2 : 1;
    check(cl->f.launch(cl->queue, kernel, dimensions, nullptr, global, local, 0, nullptr, nullptr), "launch");
  }

  void run() {
    for (const Step& step : steps) run_step(step);
    check(cl->f.finish(cl->queue), "clFinish");
  }

  Contents outputs() {
    Contents contents;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (!problem.arrays[i].is_output) continue;
      contents.emplace_back(problem.arrays[i].content.size());
      check(
          cl->f.read(cl->queue, buffers[i], 1, 0, contents.back().size(), contents.back().data(), 0, nullptr, nullptr),
          "read");
    }
    return contents;
  }

  std::shared_ptr<OpenCl> cl;
  const Case& problem;
  std::vector<cl::Handle> buffers;
  cl::Handle program = nullptr;
  std::map<std::string, cl::Handle> kernels;
  std::vector<Step> steps;
};

double seconds_of(Prepared& prepared) {
  prepared.reset();
  prepared.run();
  double least = 1e30;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    prepared.run();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

}  // namespace

Party pocl_party(const std::shared_ptr<OpenCl>& cl, const Case& problem) {
  const auto prepared = std::make_shared<Prepared>(cl, problem);
  Dim3 best{};
  double least = 1e30;
  for (const Dim3& block : problem.opencl_blocks) {
    prepared->build(block);
    const double seconds = problem.opencl_blocks.size() > 1 ? seconds_of(*prepared) : 0;
    if (seconds < least) least = seconds, best = block;
  }
  if (best != problem.opencl_blocks.back()) prepared->build(best);
  return {.name = "pocl",
          .note = best.y > 1 ? fmt::format("{}x{}", best.x, best.y) : std::to_string(best.x),
          .reset = [prepared] { prepared->reset(); },
          .run = [prepared] { prepared->run(); },
          .outputs = [prepared] { return prepared->outputs(); }};
}

}  // namespace trine::bench_compute
