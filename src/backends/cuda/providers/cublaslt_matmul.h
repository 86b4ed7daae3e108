// One matrix product by cuBLASLt.
#pragma once

#include <map>

#include "backends/cuda/providers/cublaslt_api.h"
#include "dnn/device_row.h"

namespace trine::cuda {

// Why cuBLASLt cannot compute it; null when it can. Bias, residual (before the activation, or without one), relu and
// gelu_tanh are done with the product.
const char* cublaslt_misfit(const dnn::MatmulProblem& problem);

// cuBLASLt's matrices are column by column, ours row by row: it computes transpose(d) = transpose(b) transpose(a), with
// m and n exchanged, so that its bias, which belongs to rows, belongs to our columns.
class CublasLtMatmul final : public dnn::ProvidedCall {
 public:
  // Which of the suggestions of cuBLASLt's heuristics is taken, 0 being the first.
  CublasLtMatmul(const dnn::MatmulProblem& problem, const compute::Device& device, int choice, bool tf32);
  ~CublasLtMatmul() override;
  CublasLtMatmul(const CublasLtMatmul&) = delete;
  CublasLtMatmul& operator=(const CublasLtMatmul&) = delete;

  bool usable() const { return usable_; }  // there was such a suggestion
  void run(const compute::OperandAddresses& addresses, compute::Stream& stream) override;
  size_t workspace_bytes() const override { return workspace_bytes_ + bias_bytes_; }

 private:
  void describe(bool tf32);
  cublaslt::Layout layout(DType type, int64_t rows, int64_t columns, int64_t stride, int64_t batches,
                          int64_t batch_stride);
  bool suggest(int choice, uint32_t alignment, cublaslt::Suggestion& suggestion);

  dnn::MatmulProblem problem_;
  compute::Device device_;
  cublaslt::Handle handle_ = nullptr;
  cublaslt::Operation operation_ = nullptr;
  cublaslt::Layout a_ = nullptr, b_ = nullptr, d_ = nullptr;
  cublaslt::Suggestion aligned_{}, any_{};  // for addresses that are multiples of 16, and for others
  bool usable_ = false;
  size_t workspace_bytes_ = 0, bias_bytes_ = 0;  // the bias as a half
};

}  // namespace trine::cuda
