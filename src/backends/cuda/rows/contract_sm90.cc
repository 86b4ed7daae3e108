// Rows of kernels/contract_sm90.cu: convolutions and matrix products of f16 and bf16 by the tensor cores of compute
// capability 9.0.
#include <bit>
#include <cmath>

#include "backends/cuda/kernels/contract_params.cuh"
#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;
using compute::TensorMapArgument;
using compute::TensorMapShape;

struct Tile {
  int groups, columns, split;
  int rows() const { return 64 * groups; }
  int64_t stage_bytes() const { return (rows() + columns) * 128; }
};

constexpr int64_t kBlock = 64;  // elements of k that a stage holds
constexpr int kMostStages = 8;

// What both problems are to the kernel.
struct Contraction {
  int64_t m = 0, n = 0, k = 0;  // k: of one tap
  int64_t taps = 1;
  bool image = false;
  bool packs = true;  // b comes packed
  int64_t out_stride = 0, row_stride = 0;
  float alpha = 1;
  Epilogue epilogue = {};
  ElementTypes types = {};

  int64_t chunks() const { return ceil_div(k, kBlock); }
  int64_t blocks() const { return taps * chunks(); }
};

Contraction of(const ConvProblem& p) {
  const bool plain =
      p.kernel == Extents{1, 1, 1} && p.stride == Extents{1, 1, 1} && p.pad_begin == Extents{0, 0, 0} && p.in == p.out;
  return {.m = p.n * volume(p.out),
          .n = p.out_channels,
          .k = p.in_channels,
          .taps = volume(p.kernel),
          .image = !plain,
          .out_stride = or_dense(p.out_pixel_stride, p.out_channels),
          .row_stride = or_dense(p.in_pixel_stride, p.in_channels),
          .epilogue = p.epilogue,
          .types = p.types};
}

Contraction of(const MatmulProblem& p) {
  return {.m = p.m * element_count(p.a_batch),
          .n = p.n,
          .k = p.k,
          .packs = p.b_constant,
          .out_stride = or_dense(p.out_row_stride, p.n),
          .row_stride = p.k,
          .alpha = p.alpha,
          .epilogue = p.epilogue,
          .types = p.types};
}

Contraction of(const Problem& problem) {
  if (const auto* conv = std::get_if<ConvProblem>(&problem)) return of(*conv);
  return of(std::get<MatmulProblem>(problem));
}

const Tile& tile_of(const DeviceRow& row) { return *static_cast<const Tile*>(row.tile); }

const char* misfit_of_shape(const ConvProblem& p) {
  if (p.transposed) return "transposed";
  if (p.groups != 1) return "groups";
  if (p.in_layout != Layout::nhwc) return "channels outermost";
  if (p.in[0] != 1 || p.kernel[0] != 1) return "three dimensions";
  for (int i = 1; i < 3; ++i) {
    const int64_t low = -p.pad_begin[i], high = (p.out[i] - 1) * p.stride[i] - p.pad_begin[i] - (p.in[i] - 1);
    if (low < -128 || high < -128 || high > 127 || p.stride[i] > 8) return "pads or strides out of the range of maps";
  }
  return nullptr;
}

const char* misfit_of_shape(const MatmulProblem& p) {
  if (p.trans_a) return "a is transposed";
  if (element_count(p.b_batch) != 1) return "b has a batch";
  return p.b_constant || p.trans_b ? nullptr : "b is [k, n] and not constant";
}

const char* fits(const DeviceRow& row, const Problem& problem, const DeviceTraits&) {
  const Contraction c = of(problem);
  const Tile& tile = tile_of(row);
  if (c.types.in != DType::f16 && c.types.in != DType::bf16) return "operands other than f16 and bf16";
  if (c.types.weights != c.types.in) return "operands of two types";
  if (c.types.out != c.types.in && c.types.out != DType::f32) return "a result of another type";
  if (c.types.bias != DType::f32) return "a bias other than f32";
  if (const char* why = std::visit(
          [](const auto& p) -> const char* {
            if constexpr (requires { misfit_of_shape(p); }) return misfit_of_shape(p);
            else return "another problem";
          },
          problem))
    return why;
  if (c.k % 8 || c.row_stride % 8) return "channels that are no multiples of 8";
  if (c.n % 8 || c.out_stride % 8) return "results that are no multiples of 8";
  if (c.m > INT32_MAX / 2 || c.m == 0 || c.n == 0 || c.k == 0) return "a size out of range";
  if (ceil_div(c.m, tile.rows()) > UINT16_MAX) return "more tiles than a grid has";
  if (tile.split > c.blocks()) return "fewer blocks of k than blocks of a cluster";
  return nullptr;
}

int64_t apart_bytes(const Tile& tile) {  // sums that other blocks of a cluster push
  return tile.split > 1 ? tile.rows() * (tile.columns + 4) * 4 : 0;
}

int64_t kept_bytes(const Tile& tile, const Contraction& c) {  // of the residual
  if (c.epilogue.residual == Residual::none) return 0;
  return tile.rows() / tile.split * tile.columns * static_cast<int64_t>(byte_size(c.types.out));
}

int stages_of(const Tile& tile, const Contraction& c) {
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

int64_t shared_bytes(const Tile& tile, const Contraction& c) {
  return 1024 + stages_of(tile, c) * (tile.stage_bytes() + 16) + apart_bytes(tile) + kept_bytes(tile, c);
}

// Blocks on a multiprocessor at once, by shared memory, threads and registers.
int64_t resident(const Tile& tile, const Contraction& c) {
  const int64_t threads = 128 * tile.groups + 32;
  return std::max<int64_t>(1, std::min({(228 << 10) / (shared_bytes(tile, c) + 1024), 2048 / threads,
                                        65536 / (threads * (40 + tile.columns / 2))}));
}

// How many times as long as a clip an activation takes.
double finish_factor(Activation a) {
  if (a == Activation::gelu || a == Activation::gelu_tanh || a == Activation::tanh) return 4.6;
  return a == Activation::sigmoid || a == Activation::silu ? 2 : 1;
}

// Blocks of k come one after the other, `pace` apart; blocks of the grid on one multiprocessor share what it multiplies
// and is filled with; what ends a block adds to both. Fitted to 1,091 times of an H200 at batch 1 and 32: 9 % off them
// in the median, what it takes for fastest is 3 % slower than the fastest.
double cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  constexpr double kStart = 0.48e-6, kStep = 0.114e-6, kBlockOf = 0.298e-6, kTurn = 0.126e-6, kHalving = 0.449e-6;
  constexpr double kFinish = 0.71e-6, kPush = 0.995e-6;               // of 64 x 128 sums, where others work as well
  constexpr double kLoad = 0.598e-6, kCrowd = 0.959e-6;               // latency of 32 KB; with all processors at work
  constexpr double kFill = 3.45, kProducts = 10.9e12, kBytes = 3.07;  // rates: of L2, of one processor, of memory
  const Contraction c = of(problem);
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
  const double products = 2 * k_blocks * kBlock * tile.rows() * tile.columns / kProducts;
  const double turns = tile.columns / (16.0 * tile.split);  // of the loop that finishes sums
  const double factor = finish_factor(c.epilogue.activation), sums = tile.rows() * tile.columns / 8192.0;
  const double ends = waves * (kBlockOf + turns * kTurn * factor + kHalving * std::log2(tile.split)) +
                      each * sums * (kFinish * factor / tile.split + (tile.split > 1 ? kPush : 0));
  return kStart + std::hypot(chain, each * std::max(load, products)) + ends +
         bytes(problem) / (traits.bytes_per_second * kBytes);
}

size_t packed_bytes(const DeviceRow&, const Problem& problem) {
  const Contraction c = of(problem);
  return c.packs ? static_cast<size_t>(c.n * c.taps * c.k * 2) : 0;
}

// [n][tap][k]
void prepack(const DeviceRow&, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const Contraction c = of(problem);
  const auto* from = static_cast<const uint16_t*>(weights[0]);
  auto* to = static_cast<uint16_t*>(packed);
  int64_t of_n = c.k * c.taps, of_tap = 1, of_k = c.taps;
  if (const auto* p = std::get_if<MatmulProblem>(&problem); p && !p->trans_b) of_n = 1, of_k = c.n;
  for (int64_t n = 0; n < c.n; ++n)
    for (int64_t tap = 0; tap < c.taps; ++tap)
      for (int64_t k = 0; k < c.k; ++k) *to++ = from[n * of_n + tap * of_tap + k * of_k];
}

TensorMapArgument map_of_b(const Contraction& c, const Tile& tile) {
  const auto k = static_cast<uint64_t>(c.k), taps = static_cast<uint64_t>(c.taps);
  return {{c.packs ? Role::Kind::packed : Role::Kind::in, c.packs ? 0 : 1},
          TensorMapShape{.type = c.types.in,
                         .dims = {k, taps, static_cast<uint64_t>(c.n)},
                         .stride_bytes = {2 * k, 2 * k * taps},
                         .swizzle_bytes = 128,
                         .box = {kBlock, 1, static_cast<uint32_t>(tile.columns)}}};
}

TensorMapArgument map_of_rows(const Contraction& c, const Tile& tile) {
  return {in(0), TensorMapShape{.type = c.types.in,
                                .dims = {static_cast<uint64_t>(c.k), static_cast<uint64_t>(c.m)},
                                .stride_bytes = {2 * static_cast<uint64_t>(c.row_stride)},
                                .swizzle_bytes = 128,
                                .box = {kBlock, static_cast<uint32_t>(tile.rows())}}};
}

TensorMapArgument map_of_image(const ConvProblem& p, const Contraction& c, const Tile& tile) {
  const auto pixel = 2 * static_cast<uint64_t>(c.row_stride), w = static_cast<uint64_t>(p.in[2]),
             h = static_cast<uint64_t>(p.in[1]);
  const auto corner = [&](int i) {  // of the box in which windows begin
    return static_cast<int>((p.out[i] - 1) * p.stride[i] - p.pad_begin[i] - (p.in[i] - 1));
  };
  return {in(0), TensorMapShape{
                     .type = c.types.in,
                     .dims = {static_cast<uint64_t>(c.k), w, h, static_cast<uint64_t>(p.n)},
                     .stride_bytes = {pixel, pixel * w, pixel * w * h},
                     .element_strides = {1, static_cast<uint32_t>(p.stride[2]), static_cast<uint32_t>(p.stride[1]), 1},
                     .swizzle_bytes = 128,
                     .lower_corner = {static_cast<int>(-p.pad_begin[2]), static_cast<int>(-p.pad_begin[1])},
                     .upper_corner = {corner(2), corner(1)},
                     .channels = kBlock,
                     .pixels = static_cast<uint32_t>(tile.rows())}};
}

ContractParams params_of(const Contraction& c, const Tile& tile) {
  return {.m = static_cast<int>(c.m),
          .n = static_cast<int>(c.n),
          .chunks = static_cast<int>(c.chunks()),
          .blocks = static_cast<int>(c.blocks()),
          .taps_w = 1,
          .stages = stages_of(tile, c),
          .split = tile.split,
          .split_bits = std::countr_zero(static_cast<unsigned>(tile.split)),
          .out_stride = static_cast<int>(c.out_stride),
          .constant_b = c.packs,
          .scale = c.alpha,
          .residual = static_cast<int>(c.epilogue.residual),
          .alpha = c.epilogue.alpha,
          .beta = c.epilogue.beta};
}

void add_window(ContractParams& params, const ConvProblem& p) {
  const auto number = [](int64_t v) { return static_cast<int>(v); };
  params.taps_w = number(p.kernel[2]);
  params.step_w = number(p.dilation[2]), params.step_h = number(p.dilation[1]);
  params.out_w = divider_of(p.out[2]), params.out_h = divider_of(p.out[1]);
  params.stride_w = number(p.stride[2]), params.stride_h = number(p.stride[1]);
  params.pad_w = number(p.pad_begin[2]), params.pad_h = number(p.pad_begin[1]);
}

// As the kernel reads it.
compute::Dim3 grid_of(const Contraction& c, const Tile& tile) {
  const auto m = static_cast<uint32_t>(ceil_div(c.m, tile.rows())),
             n = static_cast<uint32_t>(ceil_div(c.n, tile.columns));
  if (tile.split > 1) return {n, m, static_cast<uint32_t>(tile.split)};
  return {std::min(n, 8u), m, (n + 7) / 8};
}

DeviceCall call(const DeviceRow& row, const Problem& problem, const DeviceTraits&) {
  const Contraction c = of(problem);
  const Tile& tile = tile_of(row);
  ContractParams params = params_of(c, tile);
  const auto* conv = std::get_if<ConvProblem>(&problem);
  if (conv) add_window(params, *conv);
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
       .arguments = {c.image ? map_of_image(*conv, c, tile) : map_of_rows(c, tile), map_of_b(c, tile),
                     by_value(params)}});
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
                      .packed_bytes = packed_bytes,
                      .prepack = prepack,
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
