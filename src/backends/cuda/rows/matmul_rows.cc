// The rows of products of few rows by a matrix: bound by reading it. On plain arithmetic units up to four rows, of
// halves on tensor cores up to 16.
#include <cmath>
#include <cstring>

#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;

constexpr int64_t kWarps = 4;  // as in matmul_rows.cu
constexpr int kOne = 1, kFour = 4, kSixteen = 16;

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
  if (shape.rows > most_rows(row))
    return most_rows(row) == 1   ? "more than one row"
           : most_rows(row) == 4 ? "more than four rows"
                                 : "more than 16 rows";
  return shape.batch * ceil_div(p.n, kWarps) > INT32_MAX ? "more than 2^31 blocks" : nullptr;
}

// Of blocks of tensor cores' rows: groups of eight columns.
int64_t groups_of(const MatmulProblem& p, const DeviceTraits& traits) {
  const int64_t blocks = ceil_div(p.n, 8) * MatmulShape(p).batch;
  return blocks >= 8 * traits.multiprocessors ? 2 : 1;
}

const char* fits_halves(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  if (p.types.in != p.types.weights || (p.types.in != DType::f16 && p.types.in != DType::bf16))
    return "operands other than two of f16 or two of bf16";
  if (p.k % 8) return "a depth that is no multiple of 8";
  return fits(row, problem, traits);
}

double matrix_bytes(const MatmulProblem& p) {
  return static_cast<double>(p.n * p.k) * static_cast<double>(byte_size(p.types.weights)) *
         static_cast<double>(MatmulShape(p).batch);
}
// Matrices of networks that fit the L2 cache are read faster than memory.
double speed(double bytes, const DeviceTraits& traits, double cached, double other) {
  return traits.bytes_per_second * (bytes < static_cast<double>(traits.l2_bytes) ? cached : other);
}

double cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  const double matrix = matrix_bytes(p), rows = most_rows(row);
  return 1.6e-6 + matrix / speed(matrix, traits, 0.3, 0.3) * (0.6 + 0.4 * std::sqrt(rows));
}

double cost_of_halves(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  const MatmulShape shape(p);
  const double matrix = matrix_bytes(p), blocks = static_cast<double>(shape.batch * ceil_div(p.n, 8));
  const double busy = std::min(1.0, blocks / traits.multiprocessors);  // multiprocessors at work
  const double rows = static_cast<double>(shape.rows * p.k * 2) * blocks / static_cast<double>(groups_of(p, traits));
  return 1.6e-6 + static_cast<double>(ceil_div(p.k, 2048)) * 0.4e-6 +
         (matrix + rows / 2) / (speed(matrix, traits, 1.3, 0.8) * busy);
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

// The launch's grid and kernel are the caller's.
DeviceCall call_of(const MatmulProblem& p, const MatmulShape& shape, int64_t columns, const DeviceTraits& traits) {
  DeviceCall call;
  if (shape.rows * shape.batch * p.n == 0) return call;
  contraction::Product q{};
  q.rows = static_cast<int>(shape.rows), q.columns = static_cast<int>(p.n), q.depth = static_cast<int>(p.k);
  q.a_type = number_of(p.types.in), q.b_type = number_of(p.types.weights);
  q.column_tiles = static_cast<int>(ceil_div(p.n, columns));
  q.a_row = p.k, q.b_column = p.b_constant ? packed_depth(p) : p.k;
  q.y_row = or_dense(p.out_row_stride, p.n), q.y_batch = shape.rows * q.y_row;
  q.batches = shape.batches;
  call.launches.push_back(
      {.shape = {.grid = {static_cast<uint32_t>(shape.batch * q.column_tiles)}, .overlap = overlaps(traits)},
       .arguments = {by_value(q), by_value(finish_of(p.types, p.epilogue, p.alpha, {}))}});
  return call;
}

void add_operands(const MatmulProblem& p, DeviceLaunch& launch) {
  launch.arguments.push_back(Role{Role::Kind::in});
  launch.arguments.push_back(p.b_constant ? Role{Role::Kind::packed} : Role{Role::Kind::in, 1});
  add_finish_operands(p.types, p.epilogue, launch.arguments);
}

DeviceCall call(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  DeviceCall call = call_of(p, MatmulShape(p), kWarps, traits);
  for (DeviceLaunch& launch : call.launches) {
    launch.source = device_source("matmul_rows.cu");
    // Where both types are the same, the code has no other.
    const int type = p.types.in == p.types.weights ? static_cast<int>(number_of(p.types.in)) : -1;
    launch.kernel = fmt::format("matmul_rows<{}, {}, {}>", most_rows(row), type, overlaps(traits));
    launch.shape.block = {static_cast<uint32_t>(32 * kWarps)};
    add_operands(p, launch);
  }
  return call;
}

DeviceCall call_halves(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const MatmulProblem& p = of(problem);
  const MatmulShape shape(p);
  const int64_t groups = groups_of(p, traits);
  DeviceCall call = call_of(p, shape, 8 * groups, traits);
  for (DeviceLaunch& launch : call.launches) {
    launch.source = device_source("matmul_rows_mma.cu");
    launch.kernel = fmt::format("matmul_rows_mma<{}, {}, {}, {}>", p.types.in == DType::f16 ? "F16" : "Bf16",
                                shape.rows > 8 ? 2 : 1, groups, overlaps(traits));
    launch.shape.block = {256};
    launch.arguments.push_back(by_value(static_cast<int>(p.b_constant)));
    add_operands(p, launch);
  }
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

DeviceRow row_of_halves(std::string_view name) {
  DeviceRow r = row(name, kSixteen);
  r.architecture = 80, r.fits = fits_halves, r.cost = cost_of_halves, r.call = call_halves;
  return r;
}

const DeviceRow kRows[] = {row("matmul_any_any_rows_1", kOne), row("matmul_any_any_rows_4", kFour),
                           row_of_halves("matmul_half_mma_rows_16")};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
