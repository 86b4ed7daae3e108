#include "backends/cuda/providers/cublaslt_api.h"

#include <optional>

#include "backends/cuda/providers/library.h"
#include "trine/compute/vendor_libraries.h"

namespace trine::cuda::cublaslt {
namespace {

constexpr size_t kOldest = 120000;  // of CUDA 12

std::optional<Api> load() {
  const std::string pretended = pretended_libraries().cublaslt;
  const auto library = pretended.empty() ? compute::open_vendor_library({"libcublasLt.so.13", "libcublasLt.so.12"})
                                         : compute::open_vendor_library({pretended});
  if (!library.handle) return std::nullopt;
  Api a{};
  void* from = library.handle;
  const bool complete =
      take(from, a.version, "cublasLtGetVersion") && take(from, a.status_name, "cublasLtGetStatusName") &&
      take(from, a.create, "cublasLtCreate") && take(from, a.operation_create, "cublasLtMatmulDescCreate") &&
      take(from, a.operation_destroy, "cublasLtMatmulDescDestroy") &&
      take(from, a.operation_set, "cublasLtMatmulDescSetAttribute") &&
      take(from, a.layout_create, "cublasLtMatrixLayoutCreate") &&
      take(from, a.layout_destroy, "cublasLtMatrixLayoutDestroy") &&
      take(from, a.layout_set, "cublasLtMatrixLayoutSetAttribute") &&
      take(from, a.preference_create, "cublasLtMatmulPreferenceCreate") &&
      take(from, a.preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
      take(from, a.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
      take(from, a.suggest, "cublasLtMatmulAlgoGetHeuristic") && take(from, a.multiply, "cublasLtMatmul");
  if (!complete || a.version() < kOldest) return std::nullopt;
  return a;
}

}  // namespace

const Api* api() {
  static const std::optional<Api> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace trine::cuda::cublaslt
