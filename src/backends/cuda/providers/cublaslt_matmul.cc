#include "backends/cuda/providers/cublaslt_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "backends/cuda/providers/library.h"
#include "trine/base/error.h"

namespace trine::cuda {
namespace {

using namespace cublaslt;
using compute::OperandRole;
using dnn::MatmulProblem;

constexpr uint64_t kMostWorkspaceBytes = 32 << 20;
constexpr uint32_t kAlignment = 16;
constexpr int kSuggestions = 8;

void check(Status status, const char* call) {
  if (status == 0) return;
  throw Error(ErrorCode::device,
              fmt::format("{}: {}; --providers none does without cuBLASLt", call, api()->status_name(status)));
}

DataType data_type(DType type) { return type == DType::f16 ? kF16 : type == DType::bf16 ? kBf16 : kF32; }

int64_t count(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

// An operand's batches are all of the result's, or one for all of them.
bool is_strided(const Dims& batch, const Dims& all) { return count(batch) == 1 || count(batch) == count(all); }

// One for each device, of its primary context, which allocating makes this thread's.
Handle handle_of(const compute::Device& device) {
  static std::mutex mutex;
  static auto* handles = new std::map<std::string, Handle>;  // outlive whatever is still running at exit
  const std::lock_guard lock(mutex);
  Handle& handle = (*handles)[device.info().id];
  if (!handle) {
    device.create_stream().native();
    check(api()->create(&handle), "cublasLtCreate");
  }
  return handle;
}

uint32_t epilogue_of(const dnn::Epilogue& e) {
  uint32_t bits = e.bias ? uint32_t{cublaslt::kBias} : 0;
  if (e.activation == dnn::Activation::relu) bits |= kRelu;
  if (e.activation == dnn::Activation::gelu_tanh) bits |= kGelu;
  return bits ? bits : uint32_t{kPlain};
}

}  // namespace

const char* cublaslt_misfit(const MatmulProblem& p) {
  const dnn::Epilogue& e = p.epilogue;
  using dnn::Activation;
  if (p.m <= 0 || p.n <= 0 || p.k <= 0 || count(dnn::batch_of(p)) <= 0) return "nothing to multiply";
  if (std::max({p.m, p.n, p.k}) > INT32_MAX) return "sizes beyond 31 bits";
  if (p.types.in != p.types.weights || p.types.are_integers()) return "operands of two types, or integers";
  if (p.types.out != p.types.in && p.types.out != DType::f32) return "a result of another half";
  if (e.activation != Activation::none && e.activation != Activation::relu && e.activation != Activation::gelu_tanh)
    return "an activation other than relu and gelu_tanh";
  if (e.residual == dnn::Residual::after_activation && e.activation != Activation::none)
    return "a residual after the activation";
  const Dims all = dnn::batch_of(p);
  if (!is_strided(p.a_batch, all) || !is_strided(p.b_batch, all)) return "batches that broadcast in part";
  return nullptr;
}

CublasLtMatmul::CublasLtMatmul(const MatmulProblem& problem, const compute::Device& device, int choice, bool tf32)
    : problem_(problem), device_(device), handle_(handle_of(device)) {
  describe(tf32);
  usable_ = suggest(choice, kAlignment, aligned_) &&
            suggest(choice, static_cast<uint32_t>(byte_size(problem.types.in)), any_);
  if (!usable_) return;
  constexpr size_t kStep = 256;
  workspace_bytes_ = (std::max(aligned_.workspace_bytes, any_.workspace_bytes) + kStep - 1) / kStep * kStep;
  if (!problem.epilogue.bias || problem.types.out == DType::f32) return;
  bias_bytes_ = static_cast<size_t>(problem.n) * 2;
  prepare_narrow(device);
}

CublasLtMatmul::~CublasLtMatmul() {
  for (Layout l : {a_, b_, d_})
    if (l) api()->layout_destroy(l);
  if (operation_) api()->operation_destroy(operation_);
}

Layout CublasLtMatmul::layout(DType type, int64_t rows, int64_t columns, int64_t stride, int64_t batches,
                              int64_t batch_stride) {
  Layout made = nullptr;
  check(
      api()->layout_create(&made, data_type(type), static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), stride),
      "cublasLtMatrixLayoutCreate");
  const auto number = static_cast<int32_t>(batches);
  api()->layout_set(made, kBatchCount, &number, sizeof number);
  api()->layout_set(made, kBatchStride, &batch_stride, sizeof batch_stride);
  return made;
}

// Its a is our b, its b our a.
void CublasLtMatmul::describe(bool tf32) {
  const MatmulProblem& p = problem_;
  check(api()->operation_create(&operation_, tf32 ? kComputeTf32 : kCompute32F, kF32), "cublasLtMatmulDescCreate");
  const int32_t transpose_a = p.trans_b, transpose_b = p.trans_a;
  const uint32_t epilogue = epilogue_of(p.epilogue);
  api()->operation_set(operation_, kTransposeA, &transpose_a, sizeof transpose_a);
  api()->operation_set(operation_, kTransposeB, &transpose_b, sizeof transpose_b);
  check(api()->operation_set(operation_, kEpilogue, &epilogue, sizeof epilogue), "cublasLtMatmulDescSetAttribute");
  const int64_t batches = count(dnn::batch_of(p)), row = p.out_row_stride ? p.out_row_stride : p.n;
  const auto step = [&](const Dims& batch, int64_t size) { return count(batch) == 1 ? int64_t{0} : size; };
  const int64_t b_step = step(p.b_batch, p.k * p.n), a_step = step(p.a_batch, p.m * p.k);
  a_ = p.trans_b ? layout(p.types.weights, p.k, p.n, p.k, batches, b_step)
                 : layout(p.types.weights, p.n, p.k, p.n, batches, b_step);
  b_ = p.trans_a ? layout(p.types.in, p.m, p.k, p.m, batches, a_step)
                 : layout(p.types.in, p.k, p.m, p.k, batches, a_step);
  d_ = layout(p.types.out, p.n, p.m, row, batches, p.m * row);
}

bool CublasLtMatmul::suggest(int choice, uint32_t alignment, Suggestion& suggestion) {
  Preference preference = nullptr;
  check(api()->preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  api()->preference_set(preference, kMostWorkspace, &kMostWorkspaceBytes, sizeof kMostWorkspaceBytes);
  for (PreferenceAttribute which : {kAlignmentA, kAlignmentB, kAlignmentC, kAlignmentD})
    api()->preference_set(preference, which, &alignment, sizeof alignment);
  // Where the bias is only counts by its alignment.
  if (const void* some = reinterpret_cast<const void*>(uintptr_t{256}); problem_.epilogue.bias)
    api()->operation_set(operation_, kBiasPointer, &some, sizeof some);
  Suggestion found[kSuggestions] = {};
  int number = 0;
  const Status status = api()->suggest(handle_, operation_, a_, b_, d_, d_, preference, kSuggestions, found, &number);
  api()->preference_destroy(preference);
  if (status != 0 || number == 0 || (alignment == kAlignment && choice >= number)) return false;
  suggestion = found[std::min(choice, number - 1)];
  return suggestion.state == 0;
}

void CublasLtMatmul::run(const compute::OperandAddresses& addresses, compute::Stream& stream) {
  const auto at = [&](OperandRole::Kind kind, int index = 0) { return addresses({kind, index}); };
  const bool adds = problem_.epilogue.residual != dnn::Residual::none;
  const void* a = at(OperandRole::Kind::in, 0);
  const void* b = at(OperandRole::Kind::in, 1);
  void* d = at(OperandRole::Kind::out);
  const void* c = adds ? at(OperandRole::Kind::residual) : d;
  char* workspace = workspace_bytes() ? static_cast<char*>(at(OperandRole::Kind::workspace)) : nullptr;
  if (problem_.epilogue.bias) {
    const void* bias = at(OperandRole::Kind::bias);
    if (bias_bytes_) {
      narrow(device_, stream, bias, workspace + workspace_bytes_, problem_.n, problem_.types.out);
      bias = workspace + workspace_bytes_;
    }
    check(api()->operation_set(operation_, kBiasPointer, &bias, sizeof bias), "cublasLtMatmulDescSetAttribute");
  }
  const auto is_aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kAlignment == 0; };
  const bool aligned = is_aligned(a) && is_aligned(b) && is_aligned(c) && is_aligned(d);
  const Suggestion& way = aligned ? aligned_ : any_;
  const float alpha = problem_.alpha, beta = adds ? 1.f : 0.f;
  check(api()->multiply(handle_, operation_, &alpha, b, a_, a, b_, &beta, c, d_, d, d_, &way.algorithm, workspace,
                        way.workspace_bytes, stream.native()),
        "cublasLtMatmul");
}

}  // namespace trine::cuda
