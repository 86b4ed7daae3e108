// Rows of kernels/contract_sm90.cu: convolutions and matrix products of f16 and bf16 by the tensor cores of compute
// capability 9.0.
#include <bit>
#include <cmath>

#include "backends/cuda/rows/sm90_contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;

struct Tile {
  int groups, columns, split;
  int rows() const { return 64 * groups; }
  int64_t stage_bytes() const { return (rows() + columns) * 128; }
};

constexpr int kMostStages = 8;

const Tile& tile_of(const DeviceRow& row) { return *static_cast<const Tile*>(row.tile); }

int64_t apart_bytes(const Tile& tile) {  // sums that other blocks of a cluster push
  return tile.split > 1 ? tile.rows() * (tile.columns + 4) * 4 : 0;
}

int64_t kept_bytes(const Tile& tile, const Sm90Contraction& c) {  // of the residual
  if (c.epilogue.residual == Residual::none) return 0;
  return tile.rows() / tile.split * tile.columns * static_cast<int64_t>(byte_size(c.types.out));
}

int stages_of(const Tile& tile, const Sm90Contraction& c) {
  // Small tiles leave room for a second block: that of the next kernel, which begins to load its weights.
  const int64_t room = tile.groups == 1 ? 100 << 10 : tile.columns <= 128 ? 110 << 10 : 200 << 10;
  const int64_t least = tile.split > 1 ? 2 : ceil_div(tile.rows() * (tile.columns + 4) * 4, tile.stage_bytes());
  const int64_t wanted = ceil_div(c.blocks(), tile.split);
  return static_cast<int>(std::max(
      least,
      std::min({(room - apart_bytes(tile) - kept_bytes(tile, c)) / tile.stage_bytes(), wanted, int64_t{kMostStages}})));
}

// GB/s at which one of so many multiprocessors at work is filled from the L2 cache, as an H200 measured.
double fill_rate(double active) {
  static constexpr std::pair<double, double> kRates[] = {{1, 185},  {8, 156},  {16, 133}, {32, 115},
                                                         {64, 102}, {100, 78}, {132, 68}};
  for (size_t i = 1; i < std::size(kRates); ++i)
    if (active <= kRates[i].first) {
      const auto [x0, y0] = kRates[i - 1];
      const auto [x1, y1] = kRates[i];
      return (y0 + (y1 - y0) * (active - x0) / (x1 - x0)) * 1e9;
    }
  return 68e9;
}

int64_t shared_bytes(const Tile& tile, const Sm90Contraction& c) {
  return 1024 + stages_of(tile, c) * (tile.stage_bytes() + 16) + apart_bytes(tile) + kept_bytes(tile, c);
}

const char* fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  if (const char* why = sm90_misfit(problem)) return why;
  const Sm90Contraction c = sm90_contraction(problem);
  const Tile& tile = tile_of(row);
  if (ceil_div(c.m, tile.rows()) > UINT16_MAX) return "more tiles than a grid has";
  if (shared_bytes(tile, c) > traits.shared_bytes_per_block) return "more shared memory than a block may have";
  if (tile.split > c.blocks()) return "fewer blocks of k than blocks of a cluster";
  return nullptr;
}

// Blocks on a multiprocessor at once, by shared memory, threads and registers.
int64_t resident(const Tile& tile, const Sm90Contraction& c) {
  const int64_t threads = 128 * tile.groups + 32;
  return std::max<int64_t>(1, std::min({(228 << 10) / (shared_bytes(tile, c) + 1024), 2048 / threads,
                                        65536 / (threads * (40 + tile.columns / 2))}));
}

// How many times as long as a clip an activation takes.
double finish_factor(Activation a) {
  if (a == Activation::tanh) return 4.6;
  if (a == Activation::gelu || a == Activation::gelu_tanh) return 1.9;
  return a == Activation::sigmoid || a == Activation::silu ? 1.5 : 1;
}

// Blocks of k come one after the other, `pace` apart; blocks of the grid on one multiprocessor share what it multiplies
// and is filled with; what ends a block adds to both. Fitted to 1,091 times of an H200 at batch 1 and 32: 9 % off them
// in the median, what it takes for fastest is 3 % slower than the fastest.
double cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  constexpr double kStart = 0.48e-6, kStep = 0.114e-6, kBlockOf = 0.298e-6, kTurn = 0.126e-6, kHalving = 0.449e-6;
  constexpr double kFinish = 0.71e-6, kPush = 0.995e-6;               // of 64 x 128 sums, where others work as well
  constexpr double kLoad = 0.598e-6, kCrowd = 0.959e-6;               // latency of 32 KB; with all processors at work
  constexpr double kFill = 3.45, kProducts = 10.9e12, kBytes = 3.07;  // rates: of L2, of one processor, of memory
  const Sm90Contraction c = sm90_contraction(problem);
  const Tile& tile = tile_of(row);
  const auto blocks = static_cast<double>(ceil_div(c.m, tile.rows()) * ceil_div(c.n, tile.columns) * tile.split);
  const double processors = traits.multiprocessors, active = std::min(blocks, processors);
  const double each = std::ceil(blocks / processors);  // blocks that a multiprocessor works on
  const double waves = std::ceil(blocks / (processors * static_cast<double>(resident(tile, c))));
  const auto k_blocks = static_cast<double>(ceil_div(c.blocks(), tile.split));
  const double stages = stages_of(tile, c);
  const auto stage_bytes = static_cast<double>(tile.stage_bytes());
  const double latency = kLoad * stage_bytes / 32768 + kCrowd * active / 132, pace = std::max(kStep, latency / stages);
  const double chain = waves * (latency + std::min(k_blocks, stages) * kStep + std::max(0.0, k_blocks - stages) * pace);
  const double load = k_blocks * stage_bytes / (fill_rate(active) * kFill);
  const double products = 2 * k_blocks * kSm90Block * tile.rows() * tile.columns / kProducts;
  const double turns = tile.columns / (16.0 * tile.split);  // of the loop that finishes sums
  const double factor = finish_factor(c.epilogue.activation), sums = tile.rows() * tile.columns / 8192.0;
  const double ends = waves * (kBlockOf + turns * kTurn * factor + kHalving * std::log2(tile.split)) +
                      each * sums * (kFinish * factor / tile.split + (tile.split > 1 ? kPush : 0));
  return kStart + std::hypot(chain, each * std::max(load, products)) + ends +
         bytes(problem) / (traits.bytes_per_second * kBytes);
}

// As the kernel reads it.
compute::Dim3 grid_of(const Sm90Contraction& c, const Tile& tile) {
  const auto m = static_cast<uint32_t>(ceil_div(c.m, tile.rows())),
             n = static_cast<uint32_t>(ceil_div(c.n, tile.columns));
  if (tile.split > 1) return {n, m, static_cast<uint32_t>(tile.split)};
  return {std::min(n, 8u), m, (n + 7) / 8};
}

DeviceCall call(const DeviceRow& row, const Problem& problem, const DeviceTraits&) {
  const Sm90Contraction c = sm90_contraction(problem);
  const Tile& tile = tile_of(row);
  ContractParams params = sm90_params(problem, stages_of(tile, c));
  params.split = tile.split, params.split_bits = std::countr_zero(static_cast<unsigned>(tile.split));
  compute::LaunchShape shape{.grid = grid_of(c, tile),
                             .block = {static_cast<uint32_t>(128 * tile.groups + 32)},
                             .shared_bytes = static_cast<uint32_t>(shared_bytes(tile, c)),
                             .cluster = {1, 1, static_cast<uint32_t>(tile.split)},
                             .overlap = true};
  DeviceCall made;
  made.launches.push_back(
      {.source = device_source("contract_sm90.cu"),
       .kernel = fmt::format("trine::contract_sm90<{}, {}, {}, {}, {}, {}>", element_name(c.types.in),
                             element_name(c.types.out), tile.groups, tile.columns, c.image ? "true" : "false",
                             static_cast<int>(c.epilogue.activation)),
       .shape = shape,
       .arguments = {sm90_map_of_a(problem, tile.rows()), sm90_map_of_b(c, tile.columns), by_value(params)}});
  add_finish_operands(c.types, c.epilogue, made.launches[0].arguments);
  return made;
}

constexpr Tile kTiles[] = {{1, 32, 1}, {1, 32, 2},  {1, 32, 4},  {1, 32, 8},  {1, 64, 1},  {1, 64, 2},
                           {1, 64, 4}, {1, 64, 8},  {1, 128, 1}, {1, 128, 2}, {1, 128, 4}, {1, 128, 8},
                           {2, 64, 1}, {2, 128, 1}, {2, 128, 2}, {2, 128, 4}, {2, 256, 1}};

std::vector<DeviceRow> rows() {
  std::vector<DeviceRow> made;
  for (const OpKind op : {OpKind::conv, OpKind::matmul})
    for (const Tile& tile : kTiles) {
      static std::vector<std::unique_ptr<std::string>>& names = *new std::vector<std::unique_ptr<std::string>>;
      names.push_back(
          std::make_unique<std::string>(fmt::format("{}_f16_sm90_{}x{}{}", name(op), tile.rows(), tile.columns,
                                                    tile.split > 1 ? fmt::format("_split{}", tile.split) : "")));
      made.push_back({.name = *names.back(),
                      .op = op,
                      .architecture = 90,
                      .specific = true,
                      .tile = &tile,
                      .fits = fits,
                      .cost = cost,
                      .packed_bytes = sm90_packed_bytes,
                      .prepack = sm90_prepack,
                      .call = call});
    }
  return made;
}

const RegisterDeviceRows registered([]() -> std::span<const DeviceRow> {
  static const std::vector<DeviceRow>& kept = *new std::vector<DeviceRow>(rows());
  return kept;
}());

}  // namespace
}  // namespace trine::cuda
