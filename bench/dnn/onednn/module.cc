// The module around oneDNN: opens its CPU engine and dispatches problems to the files beside this one.
//
// PyPI's build of oneDNN runs on SYCL even on a CPU, and finds that CPU through OpenCL's loader, which must be told
// where Intel's driver lies. Its threads are TBB's: as many as the process may use processors when it starts.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "onednn/make.h"

namespace trine::bench::onednn {
namespace {

void name_opencl_driver() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<void*>(&dnnl_version), &info)) return;
  const auto driver = std::filesystem::canonical(info.dli_fname).parent_path() / "libintelocl.so";
  if (std::filesystem::exists(driver)) ::setenv("OCL_ICD_FILENAMES", driver.c_str(), 0);
}

// The smallest convolution: 512 multiply-adds between as many arguments as any has.
std::function<void()> empty_run(const Context& context) {
  const dnn::ConvProblem smallest{.in_channels = 16, .out_channels = 16, .epilogue = {.bias = true}};
  static const Operands operands = make_operands(smallest);
  return convolutions(context, smallest, operands).front().run;
}

std::vector<PeerRun> prepare(const Context& context, const dnn::Problem& problem, const Operands& operands,
                             std::string& why) {
  try {
    if (const auto* p = std::get_if<dnn::ConvProblem>(&problem)) return convolutions(context, *p, operands);
    if (const auto* p = std::get_if<dnn::MatmulProblem>(&problem)) return products(context, *p, operands);
    if (const auto* p = std::get_if<dnn::PoolProblem>(&problem)) return pools(context, *p, operands);
    if (const auto* p = std::get_if<dnn::ResizeProblem>(&problem)) return resamplings(context, *p, operands);
    if (const auto* p = std::get_if<dnn::RnnProblem>(&problem)) return recurrences(context, *p, operands);
    if (const auto* p = std::get_if<dnn::AttentionProblem>(&problem)) return attentions(context, *p, operands);
    why = "no counterpart";
  } catch (const error& e) {
    why = e.what();
  }
  return {};
}

}  // namespace
}  // namespace trine::bench::onednn

extern "C" __attribute__((visibility("default"))) trine::bench::Peer* trine_bench_open_peer() {
  using namespace trine::bench;
  onednn::name_opencl_driver();
  static const onednn::Context context = onednn::open_context();
  static Peer peer;
  const dnnl_version_t* v = dnnl_version();
  peer.version = std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  peer.empty = onednn::empty_run(context);
  peer.prepare = [](const trine::dnn::Problem& problem, const Operands& operands, std::string& why) {
    return onednn::prepare(context, problem, operands, why);
  };
  return &peer;
}
