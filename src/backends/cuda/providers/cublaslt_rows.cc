// Rows of cuBLASLt: matrix products, and convolutions that are such. The suggestions of its heuristics stand side by
// side as candidates.
#include <fmt/format.h>

#include <array>

#include "backends/cuda/providers/cublaslt_matmul.h"
#include "backends/cuda/providers/library.h"

namespace trine::cuda {
namespace {

using dnn::ConvProblem;
using dnn::DeviceRow;
using dnn::DeviceTraits;
using dnn::MatmulProblem;
using dnn::Problem;

struct Variant {
  DType in;
  bool tf32;
  int choice;
};

const Variant& variant(const DeviceRow& row) { return *static_cast<const Variant*>(row.tile); }

bool is_dense_pixelwise(const ConvProblem& p) {
  const dnn::Extents one{1, 1, 1}, none{0, 0, 0};
  return p.kernel == one && p.stride == one && p.pad_begin == none && p.in == p.out && p.groups == 1 &&
         p.in_layout == dnn::Layout::nhwc && (p.in_pixel_stride == 0 || p.in_pixel_stride == p.in_channels);
}

// A convolution of one tap multiplies pixels by weights [M, C]; of a transposed one [C, M].
MatmulProblem product_of(const ConvProblem& p) {
  MatmulProblem m;
  m.m = p.n * p.out[0] * p.out[1] * p.out[2];
  m.n = p.out_channels;
  m.k = p.in_channels;
  m.trans_b = !p.transposed;
  m.out_row_stride = p.out_pixel_stride;
  m.epilogue = p.epilogue;
  m.types = p.types;
  return m;
}

MatmulProblem product_of(const Problem& problem) {
  const auto* conv = std::get_if<ConvProblem>(&problem);
  return conv ? product_of(*conv) : std::get<MatmulProblem>(problem);
}

const char* fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  if (traits.is_cpu && pretended_libraries().cublaslt.empty()) return "needs a GPU";
  if (const auto* conv = std::get_if<ConvProblem>(&problem); conv && !is_dense_pixelwise(*conv))
    return "a convolution that is no matrix product";
  const MatmulProblem p = product_of(problem);
  if (p.types.in != variant(row).in) return "operands of another type";
  if (const char* reason = cublaslt_misfit(p)) return reason;
  return cublaslt::api() ? nullptr : "no cuBLASLt here";
}

double cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const Variant& v = variant(row);
  const double speed = v.in != DType::f32 ? 10 : v.tf32 ? 5 : 0.7;  // times f32's peak
  const double work = std::max(dnn::flops(problem) / (speed * traits.flops_per_second),
                               dnn::bytes(problem) / (0.8 * traits.bytes_per_second));
  return (4e-6 + work) * (1 + 0.02 * v.choice);
}

std::shared_ptr<dnn::ProvidedCall> provide(const DeviceRow& row, const Problem& problem,
                                           const compute::Device& device) {
  if (!cublaslt::api()) return nullptr;
  const Variant& v = variant(row);
  auto call = std::make_shared<CublasLtMatmul>(product_of(problem), device, v.choice, v.tf32);
  return call->usable() ? call : nullptr;
}

std::string library() { return cublaslt::api() ? fmt::format("cublaslt {}", cublaslt::api()->version()) : ""; }

constexpr int kChoices = 3, kKinds = 4;
constexpr std::array<Variant, kKinds> kVariants = {
    {{DType::f16, false, 0}, {DType::bf16, false, 0}, {DType::f32, false, 0}, {DType::f32, true, 0}}};

// Rows, with what they point at.
struct Table {
  std::array<Variant, kKinds * kChoices> variants;
  std::array<std::string, 2 * kKinds * kChoices> names;
  std::array<DeviceRow, 2 * kKinds * kChoices> rows;

  Table() {
    for (size_t i = 0; i < variants.size(); ++i) {
      variants[i] = kVariants[i / kChoices];
      variants[i].choice = static_cast<int>(i % kChoices);
      for (size_t conv : {0u, 1u}) {
        const size_t at = i + conv * variants.size();
        names[at] = fmt::format("{}_{}_cublaslt_{}", conv ? "conv" : "matmul",
                                variants[i].tf32 ? "tf32" : name(variants[i].in), variants[i].choice);
        rows[at] = {.name = names[at],
                    .op = conv ? dnn::OpKind::conv : dnn::OpKind::matmul,
                    .tf32 = variants[i].tf32,
                    .tile = &variants[i],
                    .fits = fits,
                    .cost = cost,
                    .provide = provide,
                    .provider = "cublaslt",
                    .library = library};
      }
    }
  }
};

const Table* const table = new Table;  // never destroyed: the registry points at it
const dnn::RegisterDeviceRows registered(table->rows);

}  // namespace
}  // namespace trine::cuda
