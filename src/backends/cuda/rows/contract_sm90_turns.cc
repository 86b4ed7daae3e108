// Rows of kernels/contract_sm90_turns.cu: large convolutions and matrix products of f16 and bf16 on compute capability
// 9.0.
#include "backends/cuda/rows/sm90_contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;

// As the kernel has them.
constexpr int kSide = 128, kStageBytes = 2 * kSide * 128, kStagingBytes = 8 * 16 * 36 * 4;

int64_t tiles_of(const Sm90Contraction& c) { return ceil_div(c.m, kSide) * ceil_div(c.n, kSide); }

bool has_residual(const Sm90Contraction& c) { return c.epilogue.residual != Residual::none; }

const char* fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  if (const char* why = sm90_misfit(problem)) return why;
  const Sm90Contraction c = sm90_contraction(problem);
  if (has_residual(c) && byte_size(c.types.out) != 2) return "a residual of f32";
  return tiles_of(c) * 8 > kMostItems ? "too many tiles" : nullptr;
}

int stages_of(const Sm90Contraction& c) { return has_residual(c) ? 4 : 5; }

int64_t shared_bytes(const Sm90Contraction& c) {
  return 1024 + stages_of(c) * (kStageBytes + 16) + kStagingBytes + (has_residual(c) ? 4 * kSide * kSide : 0) + 16;
}

// Not measured: a group multiplies at 0.85 of the peak while the other finishes, and the last tile is finished alone.
double cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  constexpr double kStart = 2.5e-6, kFinish = 1.6e-6, kBlockOf = kSide * kSide * kSm90Block * 2 / (4096 * 1.7e9 * 0.85);
  const Sm90Contraction c = sm90_contraction(problem);
  const auto turns = static_cast<double>(ceil_div(tiles_of(c), std::max(traits.multiprocessors, 1)));
  const double products = static_cast<double>(c.blocks()) * kBlockOf;
  return kStart + turns * std::max(products, kFinish / 2) + kFinish + bytes(problem) / (traits.bytes_per_second * 8);
}

DeviceCall call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const Sm90Contraction c = sm90_contraction(problem);
  const int64_t tiles = tiles_of(c), down = ceil_div(c.m, kSide);
  const TurnParams turns{static_cast<int>(tiles), static_cast<int>(ceil_div(c.n, kSide)), divider_of(8 * down)};
  DeviceCall made;
  made.launches.push_back(
      {.source = device_source("contract_sm90_turns.cu"),
       .kernel =
           fmt::format("trine::contract_sm90_turns<{}, {}, {}, {}>", element_name(c.types.in),
                       element_name(c.types.out), c.image ? "true" : "false", static_cast<int>(c.epilogue.activation)),
       .shape = {.grid = blocks_of(std::min<int64_t>(tiles, std::max(traits.multiprocessors, 1)), 1),
                 .block = {384},
                 .shared_bytes = static_cast<uint32_t>(shared_bytes(c)),
                 .overlap = true},
       .arguments = {sm90_map_of_a(problem, kSide), sm90_map_of_b(c, kSide),
                     by_value(sm90_params(problem, stages_of(c))), by_value(turns)}});
  add_finish_operands(c.types, c.epilogue, made.launches[0].arguments);
  return made;
}

constexpr DeviceRow row(std::string_view name, OpKind op) {
  return {.name = name,
          .op = op,
          .architecture = 90,
          .specific = true,
          .fits = fits,
          .cost = cost,
          .packed_bytes = sm90_packed_bytes,
          .prepack = sm90_prepack,
          .call = call};
}
constexpr DeviceRow kRows[] = {row("conv_f16_sm90_turns", OpKind::conv), row("matmul_f16_sm90_turns", OpKind::matmul)};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
