// The rows of products of few rows by a matrix: bound by reading it.
#include <cstring>

#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;

constexpr int64_t kWarps = 4;  // as in matmul_rows.cu
constexpr int kOne = 1, kFour = 4;

int most_rows(const DeviceRow& row) { return *static_cast<const int*>(row.tile); }
const MatmulProblem& of(const Problem& p) { return std::get<MatmulProblem>(p); }
int64_t packed_depth(const MatmulProblem& p) { return round_up(p.k, 8); }

const char* fits(const DeviceRow& row, const Problem& problem, const DeviceTraits&) {
  const MatmulProblem& p = of(problem);
  if (const char* reason = refusal_of(p)) return reason;
  if (p.types.are_integers()) return "8-bit integers";
  if (p.trans_a && p.m > 1) return "a transposed a";
  if (!p.b_constant && !p.trans_b) return "a right side neither constant nor transposed";
  const MatmulShape shape(p);
  if (shape.rows > most_rows(row)) return most_rows(row) == 1 ? "more than one row" : "more than four rows";
  return shape.batch * ceil_div(p.n, kWarps) > INT32_MAX ? "more than 2^31 blocks" : nullptr;
}

double cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  const double matrix = static_cast<double>(p.n * p.k) * static_cast<double>(byte_size(p.types.weights)) *
                        static_cast<double>(MatmulShape(p).batch);
  // Matrices of networks that fit the L2 cache are read at twice the memory's speed.
  const double speed = traits.bytes_per_second * (matrix < static_cast<double>(traits.l2_bytes) ? 1.6 : 0.85);
  const double flops_of_rows = 2.5 * matrix * most_rows(row);
  return 1.9e-6 + matrix / speed + flops_of_rows / (0.5 * traits.flops_per_second);
}

size_t packed_bytes(const DeviceRow&, const Problem& problem) {
  const MatmulProblem& p = of(problem);
  return p.b_constant ? static_cast<size_t>(p.n * packed_depth(p)) * byte_size(p.types.weights) : 0;
}

void prepack(const DeviceRow& row, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const MatmulProblem& p = of(problem);
  const size_t bytes = byte_size(p.types.weights);
  std::memset(packed, 0, packed_bytes(row, problem));
  for (int64_t j = 0; j < p.n; ++j)
    for (int64_t k = 0; k < p.k; ++k)
      std::memcpy(
          static_cast<char*>(packed) + static_cast<size_t>(j * packed_depth(p) + k) * bytes,
          static_cast<const char*>(weights[0]) + static_cast<size_t>(p.trans_b ? j * p.k + k : k * p.n + j) * bytes,
          bytes);
}

DeviceCall call(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  const MatmulShape shape(p);
  DeviceCall call;
  if (shape.rows * shape.batch * p.n == 0) return call;
  contraction::Product q{};
  q.rows = static_cast<int>(shape.rows), q.columns = static_cast<int>(p.n), q.depth = static_cast<int>(p.k);
  q.a_type = number_of(p.types.in), q.b_type = number_of(p.types.weights);
  q.column_tiles = static_cast<int>(ceil_div(p.n, kWarps));
  q.a_row = p.k, q.b_column = p.b_constant ? packed_depth(p) : p.k;
  q.y_row = or_dense(p.out_row_stride, p.n), q.y_batch = shape.rows * q.y_row;
  q.batches = shape.batches;
  DeviceLaunch launch{
      .source = device_source("matmul_rows.cu"),
      .kernel = fmt::format("matmul_rows<{}, {}>", most_rows(row), overlaps(traits)),
      .shape = {.grid = {static_cast<uint32_t>(shape.batch * q.column_tiles)},
                .block = {static_cast<uint32_t>(32 * kWarps)},
                .overlap = overlaps(traits)},
      .arguments = {by_value(q), by_value(finish_of(p.types, p.epilogue, p.alpha, {})), Role{Role::Kind::in},
                    p.b_constant ? Role{Role::Kind::packed} : Role{Role::Kind::in, 1}}};
  add_finish_operands(p.types, p.epilogue, launch.arguments);
  call.launches.push_back(std::move(launch));
  return call;
}

DeviceRow row(std::string_view name, const int& rows) {
  return {.name = name,
          .op = OpKind::matmul,
          .tile = &rows,
          .fits = fits,
          .cost = cost,
          .packed_bytes = packed_bytes,
          .prepack = prepack,
          .call = call};
}

const DeviceRow kRows[] = {row("matmul_any_any_rows_1", kOne), row("matmul_any_any_rows_4", kFour)};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
