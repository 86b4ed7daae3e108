// A library that pretends to be cuBLASLt, on the CPU: d = epilogue(alpha op(a) op(b) + beta c + bias), matrices column
// by column, sums in f64. It refuses what its algorithm was not asked for: other workspace, other alignment.
#include <cmath>
#include <cstring>

#include "backends/cuda/providers/cublaslt_api.h"
#include "base/float_formats.h"

using namespace trine;
using namespace trine::cuda::cublaslt;

namespace trine::cuda::cublaslt {

struct LightHandle {};
struct OperationObject {
  int32_t transpose_a = 0, transpose_b = 0;
  uint32_t epilogue = kPlain;
  const void* bias = nullptr;
};
struct LayoutObject {
  DataType type;
  uint64_t rows, columns;
  int64_t stride, batch_stride = 0;
  int32_t batches = 1;
};
struct PreferenceObject {
  uint64_t workspace = 0;
  uint32_t alignment = 256;
};

}  // namespace trine::cuda::cublaslt

namespace {

constexpr int kBadValue = 7, kRefused = 15;
constexpr size_t kWorkspace = 1000;

double read(const void* from, DataType type, int64_t i) {
  if (type == kF32) return static_cast<const float*>(from)[i];
  return small_float_value(type == kF16 ? DType::f16 : DType::bf16, static_cast<const uint16_t*>(from)[i]);
}

void write(void* to, DataType type, int64_t i, double value) {
  if (type == kF32) static_cast<float*>(to)[i] = static_cast<float>(value);
  else static_cast<uint16_t*>(to)[i] = small_float_bits(type == kF16 ? DType::f16 : DType::bf16, value);
}

double finished(uint32_t epilogue, double x) {
  if (epilogue & kRelu) return x > 0 ? x : 0;
  if (epilogue & kGelu) return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return x;
}

template <class T>
Status set(T& to, const void* from, size_t bytes) {
  if (bytes != sizeof(T)) return kBadValue;
  std::memcpy(&to, from, bytes);
  return 0;
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return 130000; }
const char* cublasLtGetStatusName(Status status) { return status == kBadValue ? "BAD_VALUE" : "REFUSED"; }
Status cublasLtCreate(Handle* handle) {
  *handle = new LightHandle;
  return 0;
}
Status cublasLtMatmulDescCreate(Operation* operation, ComputeType, DataType) {
  *operation = new OperationObject;
  return 0;
}
Status cublasLtMatmulDescDestroy(Operation operation) {
  delete operation;
  return 0;
}
Status cublasLtMatmulDescSetAttribute(Operation o, OperationAttribute which, const void* value, size_t bytes) {
  switch (which) {
    case kTransposeA: return set(o->transpose_a, value, bytes);
    case kTransposeB: return set(o->transpose_b, value, bytes);
    case kEpilogue: return set(o->epilogue, value, bytes);
    case kBiasPointer: return set(o->bias, value, bytes);
  }
  return kBadValue;
}
Status cublasLtMatrixLayoutCreate(Layout* layout, DataType type, uint64_t rows, uint64_t columns, int64_t stride) {
  if (stride < static_cast<int64_t>(rows)) return kBadValue;
  *layout = new LayoutObject{type, rows, columns, stride};
  return 0;
}
Status cublasLtMatrixLayoutDestroy(Layout layout) {
  delete layout;
  return 0;
}
Status cublasLtMatrixLayoutSetAttribute(Layout l, LayoutAttribute which, const void* value, size_t bytes) {
  return which == kBatchCount ? set(l->batches, value, bytes) : set(l->batch_stride, value, bytes);
}
Status cublasLtMatmulPreferenceCreate(Preference* preference) {
  *preference = new PreferenceObject;
  return 0;
}
Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  delete preference;
  return 0;
}
Status cublasLtMatmulPreferenceSetAttribute(Preference p, PreferenceAttribute which, const void* value, size_t bytes) {
  return which == kMostWorkspace ? set(p->workspace, value, bytes) : set(p->alignment, value, bytes);
}

// Two suggestions, of which the second wants no workspace. The alignment is remembered in the algorithm.
Status cublasLtMatmulAlgoGetHeuristic(Handle, Operation, Layout a, Layout b, Layout, Layout d, Preference preference,
                                      int wanted, Suggestion* suggestions, int* found) {
  *found = 0;
  if (a->type != b->type || d->batches != a->batches || d->batches != b->batches) return kRefused;
  for (; *found < std::min(wanted, 2); ++*found) {
    Suggestion& s = suggestions[*found];
    s = {};
    s.algorithm.data[0] = preference->alignment;
    s.algorithm.data[1] = s.workspace_bytes = *found == 0 ? kWorkspace : 0;
  }
  return 0;
}

Status cublasLtMatmul(Handle, Operation o, const void* alpha, const void* a, Layout la, const void* b, Layout lb,
                      const void* beta, const void* c, Layout lc, void* d, Layout ld, const Algorithm* algorithm,
                      void* workspace, size_t workspace_bytes, void*) {
  for (const void* p : {a, b, c, static_cast<const void*>(d)})
    if (reinterpret_cast<uintptr_t>(p) % algorithm->data[0] != 0) return kRefused;
  if (workspace_bytes < algorithm->data[1]) return kRefused;
  if (workspace_bytes) std::memset(workspace, 0xee, workspace_bytes);
  const double scale = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  const auto m = static_cast<int64_t>(ld->rows), n = static_cast<int64_t>(ld->columns);
  const auto k = static_cast<int64_t>(o->transpose_a ? la->rows : la->columns);
  for (int64_t batch = 0; batch < ld->batches; ++batch)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t) {
          const int64_t at_a = o->transpose_a ? t + i * la->stride : i + t * la->stride;
          const int64_t at_b = o->transpose_b ? j + t * lb->stride : t + j * lb->stride;
          sum +=
              read(a, la->type, at_a + batch * la->batch_stride) * read(b, lb->type, at_b + batch * lb->batch_stride);
        }
        const int64_t at = i + j * ld->stride + batch * ld->batch_stride;
        double x = scale * sum + (keep != 0 ? keep * read(c, lc->type, at) : 0);
        if (o->epilogue & kBias) x += read(o->bias, ld->type, i);
        write(d, ld->type, at, finished(o->epilogue, x));
      }
  return 0;
}

}  // extern "C"
