// Rows that take every contraction there is, on plain arithmetic units: tiles of products, and one thread per output
// for convolutions of small groups.
#include <cstring>

#include "backends/cuda/rows/contraction.h"
#include "base/float_formats.h"

namespace trine::cuda {
namespace {

using namespace dnn;
using contraction::Product;
using contraction::Window;
using Kind = Role::Kind;

constexpr int64_t kColumnStep = 8;  // packed columns are padded to a multiple

// As an H200 measured: the share of a multiprocessor's peak, what a step of depth waits, what ends a tile.
struct PlainTile {
  int side;
  double flops_share, step_seconds, end_seconds;
};
constexpr PlainTile k128{128, 0.3, 0, 16e-6}, k64{64, 0.4, 1.3e-6, 2.7e-6}, k32{32, 0.22, 0.8e-6, 1.1e-6};

const PlainTile& tile_of(const DeviceRow& row) { return *static_cast<const PlainTile*>(row.tile); }

// Weights of any type as kernels here want them: f32, or i8.
class PackedWeights {
 public:
  PackedWeights(DType type, const void* from, void* to) : type_(type), from_(from), to_(to) {}

  static size_t element_bytes(const ElementTypes& t) { return t.are_integers() ? 1 : 4; }

  void copy(int64_t from, int64_t to) const {
    if (type_ == DType::i8) {
      static_cast<int8_t*>(to_)[to] = static_cast<const int8_t*>(from_)[from];
    } else if (type_ == DType::f32) {
      static_cast<float*>(to_)[to] = static_cast<const float*>(from_)[from];
    } else {
      const uint16_t bits = static_cast<const uint16_t*>(from_)[from];
      static_cast<float*>(to_)[to] = static_cast<float>(small_float_value(type_, bits));
    }
  }

 private:
  DType type_;
  const void* from_;
  void* to_;
};

// Where weight (group, channel of the group, output channel of the group, tap) stands in ONNX's order.
int64_t weight_at(const ConvProblem& p, int64_t g, int64_t c, int64_t m, int64_t tap) {
  const int64_t taps = volume(p.kernel), in = p.in_per_group(), out = p.out_per_group();
  return p.transposed ? ((g * in + c) * out + m) * taps + tap : ((g * out + m) * in + c) * taps + tap;
}

contraction::Number packed_number(const ElementTypes& t) {
  return t.are_integers() ? contraction::kI8 : contraction::kF32;
}

// [group][(tap, channel)][columns]: element (g, k, m) at g * group + k * depth + m.
struct ConvPacking {
  int64_t group, depth;

  static ConvPacking tiles(const ConvProblem& p) {
    const int64_t columns = round_up(p.out_per_group(), kColumnStep);
    return {volume(p.kernel) * p.in_per_group() * columns, columns};
  }
  static ConvPacking direct(const ConvProblem& p) { return {p.out_per_group(), p.out_channels}; }

  void pack(const ConvProblem& p, const void* from, void* to) const {
    const PackedWeights weights(p.types.weights, from, to);
    const int64_t taps = volume(p.kernel), in = p.in_per_group();
    for (int64_t g = 0; g < p.groups; ++g)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t c = 0; c < in; ++c)
          for (int64_t m = 0; m < p.out_per_group(); ++m)
            weights.copy(weight_at(p, g, c, m, tap), g * group + (tap * in + c) * depth + m);
  }
};

Product conv_product(const ConvProblem& p, const ConvPacking& packing) {
  Product q{};
  q.rows = static_cast<int>(p.n * volume(p.out));
  q.columns = static_cast<int>(p.out_per_group());
  q.depth = static_cast<int>(volume(p.kernel) * p.in_per_group());
  q.a_type = number_of(p.types.in), q.b_type = packed_number(p.types);
  q.a_by_rows = p.in_layout == Layout::nchw, q.b_by_columns = true;
  q.a_depth = p.in_layout == Layout::nchw ? volume(p.in) : 1;
  q.b_depth = packing.depth, q.b_column = 1;
  q.y_row = or_dense(p.out_pixel_stride, p.out_channels), q.y_batch = p.out_per_group();
  q.column_batch = static_cast<int>(p.out_per_group());
  q.batches.rank = 1;
  q.batches.extent[0] = static_cast<int>(p.groups);
  q.batches.a_step[0] = p.in_per_group() * q.a_depth, q.batches.b_step[0] = packing.group;
  return q;
}

// Launches of tiles; none for an output without elements.
DeviceCall tiles_call(const PlainTile& tile, bool conv, int64_t members, Product q, const Window& w,
                      const contraction::Finish& f, const ElementTypes& types, bool packed, const Epilogue& e) {
  DeviceCall call;
  q.row_tiles = static_cast<int>(ceil_div(q.rows, tile.side));
  q.column_tiles = static_cast<int>(ceil_div(q.columns, tile.side));
  const int64_t blocks = members * q.row_tiles * q.column_tiles;
  if (blocks == 0) return call;
  DeviceLaunch launch{
      .source = device_source("contract_plain.cu"),
      .kernel = fmt::format("contract_plain<{}, {}, {}>", types.are_integers() ? "int" : "float", conv, tile.side),
      .shape = {.grid = {static_cast<uint32_t>(blocks)}, .block = {256}},
      .arguments = {by_value(q), by_value(w), by_value(f), Role{Kind::in, 0},
                    packed ? Role{Kind::packed} : Role{Kind::in, 1}}};
  add_finish_operands(types, e, launch.arguments);
  call.launches.push_back(std::move(launch));
  return call;
}

double tiles_seconds(const PlainTile& tile, int64_t members, int64_t rows, int64_t columns, int64_t depth,
                     const DeviceTraits& traits) {
  const double blocks = static_cast<double>(members * ceil_div(rows, tile.side) * ceil_div(columns, tile.side));
  const double unit_flops = traits.flops_per_second / std::max(traits.multiprocessors, 1);
  const double k = static_cast<double>(depth), side = tile.side;
  const double waves = std::ceil(blocks / std::max(traits.multiprocessors, 1));
  return 2e-6 + std::ceil(k / 16) * tile.step_seconds +
         waves * (2 * side * side * k / (unit_flops * tile.flops_share) + tile.end_seconds);
}

constexpr int64_t kMostBlocks = INT32_MAX;
const char* blocks_refusal(int64_t blocks) { return blocks > kMostBlocks ? "more than 2^31 blocks" : nullptr; }

const ConvProblem& conv_of(const Problem& p) { return std::get<ConvProblem>(p); }
const MatmulProblem& matmul_of(const Problem& p) { return std::get<MatmulProblem>(p); }

DeviceRow conv_row(std::string_view name, const PlainTile& tile) {
  return {
      .name = name,
      .op = OpKind::conv,
      .tile = &tile,
      .fits =
          [](const DeviceRow& row, const Problem& problem, const DeviceTraits&) {
            const ConvProblem& p = conv_of(problem);
            if (const char* reason = refusal_of(p)) return reason;
            const int side = tile_of(row).side;
            return blocks_refusal(p.groups * ceil_div(p.n * volume(p.out), side) * ceil_div(p.out_per_group(), side));
          },
      .cost =
          [](const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
            const ConvProblem& p = conv_of(problem);
            return tiles_seconds(tile_of(row), p.groups, p.n * volume(p.out), p.out_per_group(),
                                 volume(p.kernel) * p.in_per_group(), traits);
          },
      .packed_bytes =
          [](const DeviceRow&, const Problem& problem) {
            const ConvProblem& p = conv_of(problem);
            return static_cast<size_t>(p.groups * ConvPacking::tiles(p).group) * PackedWeights::element_bytes(p.types);
          },
      .prepack =
          [](const DeviceRow& row, const Problem& problem, std::span<const void* const> weights, void* packed) {
            std::memset(packed, 0, row.packed_bytes(row, problem));
            ConvPacking::tiles(conv_of(problem)).pack(conv_of(problem), weights[0], packed);
          },
      .call = [](const DeviceRow& row, const Problem& problem,
                 const DeviceTraits& traits) { return row.call_integers(row, problem, traits, {}); },
      .call_integers =
          [](const DeviceRow& row, const Problem& problem, const DeviceTraits&, const Quantization& q) {
            const ConvProblem& p = conv_of(problem);
            return tiles_call(tile_of(row), true, p.groups, conv_product(p, ConvPacking::tiles(p)), window_of(p),
                              finish_of(p.types, p.epilogue, 1, q), p.types, true, p.epilogue);
          }};
}

DeviceCall direct_call(const ConvProblem& p, const Quantization& q) {
  DeviceCall call;
  Product product = conv_product(p, ConvPacking::direct(p));
  product.columns = static_cast<int>(p.out_channels);
  const int64_t blocks = ceil_div(int64_t{product.rows} * product.columns, 256);
  if (blocks == 0) return call;
  DeviceLaunch launch{
      .source = device_source("contract_plain.cu"),
      .kernel = fmt::format("conv_direct<{}>", p.types.are_integers() ? "int" : "float"),
      .shape = {.grid = {static_cast<uint32_t>(blocks)}, .block = {256}},
      .arguments = {by_value(product), by_value(window_of(p)), by_value(finish_of(p.types, p.epilogue, 1, q)),
                    by_value(static_cast<int>(p.out_per_group())), Role{Kind::in, 0}, Role{Kind::packed}}};
  add_finish_operands(p.types, p.epilogue, launch.arguments);
  call.launches.push_back(std::move(launch));
  return call;
}

DeviceRow direct_row(std::string_view name) {
  return {
      .name = name,
      .op = OpKind::conv,
      .fits =
          [](const DeviceRow&, const Problem& problem, const DeviceTraits&) {
            const ConvProblem& p = conv_of(problem);
            if (const char* reason = refusal_of(p)) return reason;
            if (p.out_per_group() > 16) return "groups of more than 16 output channels";
            return blocks_refusal(ceil_div(p.n * volume(p.out) * p.out_channels, 256));
          },
      .cost =
          [](const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
            const double unit_flops = traits.flops_per_second / std::max(traits.multiprocessors, 1);
            const double blocks = bytes(problem) / 4 / 256;
            return launch_seconds(traits, std::max(blocks, 1.0), bytes(problem) / std::max(blocks, 1.0),
                                  flops(problem) / std::max(blocks, 1.0), unit_flops * 0.08, 4) +
                   static_cast<double>(volume(conv_of(problem).kernel) * conv_of(problem).in_per_group()) * 20e-9;
          },
      .packed_bytes =
          [](const DeviceRow&, const Problem& problem) {
            const ConvProblem& p = conv_of(problem);
            return static_cast<size_t>(volume(p.kernel) * p.in_per_group() * p.out_channels) *
                   PackedWeights::element_bytes(p.types);
          },
      .prepack = [](const DeviceRow&, const Problem& problem, std::span<const void* const> weights,
                    void* packed) { ConvPacking::direct(conv_of(problem)).pack(conv_of(problem), weights[0], packed); },
      .call = [](const DeviceRow&, const Problem& problem,
                 const DeviceTraits&) { return direct_call(conv_of(problem), {}); },
      .call_integers = [](const DeviceRow&, const Problem& problem, const DeviceTraits&,
                          const Quantization& q) { return direct_call(conv_of(problem), q); }};
}

Product matmul_product(const MatmulProblem& p, const MatmulShape& shape) {
  Product q{};
  q.rows = static_cast<int>(shape.rows), q.columns = static_cast<int>(p.n), q.depth = static_cast<int>(p.k);
  q.a_type = number_of(p.types.in);
  q.b_type = p.b_constant ? packed_number(p.types) : number_of(p.types.weights);
  q.a_row = p.trans_a ? 1 : p.k, q.a_depth = p.trans_a ? p.m : 1;
  const bool transposed = p.trans_b && !p.b_constant;
  q.b_depth = transposed ? 1 : p.b_constant ? round_up(p.n, kColumnStep) : p.n, q.b_column = transposed ? p.k : 1;
  q.a_by_rows = p.trans_a, q.b_by_columns = !transposed;
  q.y_row = or_dense(p.out_row_stride, p.n), q.y_batch = shape.rows * q.y_row;
  q.batches = shape.batches;
  return q;
}

DeviceRow matmul_row(std::string_view name, const PlainTile& tile) {
  return {.name = name,
          .op = OpKind::matmul,
          .tile = &tile,
          .fits =
              [](const DeviceRow& row, const Problem& problem, const DeviceTraits&) {
                const MatmulProblem& p = matmul_of(problem);
                if (const char* reason = refusal_of(p)) return reason;
                const MatmulShape shape(p);
                const int side = tile_of(row).side;
                return blocks_refusal(shape.batch * ceil_div(shape.rows, side) * ceil_div(p.n, side));
              },
          .cost =
              [](const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
                const MatmulProblem& p = matmul_of(problem);
                const MatmulShape shape(p);
                return tiles_seconds(tile_of(row), shape.batch, shape.rows, p.n, p.k, traits);
              },
          .packed_bytes =
              [](const DeviceRow&, const Problem& problem) {
                const MatmulProblem& p = matmul_of(problem);
                return p.b_constant ? static_cast<size_t>(p.k * round_up(p.n, kColumnStep)) *
                                          PackedWeights::element_bytes(p.types)
                                    : size_t{0};
              },
          .prepack =
              [](const DeviceRow& row, const Problem& problem, std::span<const void* const> weights, void* packed) {
                const MatmulProblem& p = matmul_of(problem);
                std::memset(packed, 0, row.packed_bytes(row, problem));
                const PackedWeights to(p.types.weights, weights[0], packed);
                for (int64_t k = 0; k < p.k; ++k)
                  for (int64_t j = 0; j < p.n; ++j)
                    to.copy(p.trans_b ? j * p.k + k : k * p.n + j, k * round_up(p.n, kColumnStep) + j);
              },
          .call = [](const DeviceRow& row, const Problem& problem,
                     const DeviceTraits& traits) { return row.call_integers(row, problem, traits, {}); },
          .call_integers =
              [](const DeviceRow& row, const Problem& problem, const DeviceTraits&, const Quantization& q) {
                const MatmulProblem& p = matmul_of(problem);
                const MatmulShape shape(p);
                return tiles_call(tile_of(row), false, shape.batch, matmul_product(p, shape), Window{},
                                  finish_of(p.types, p.epilogue, p.alpha, q), p.types, p.b_constant, p.epilogue);
              }};
}

const DeviceRow kPlain[] = {
    conv_row("conv_any_any_plain_128x128", k128),     conv_row("conv_any_any_plain_64x64", k64),
    conv_row("conv_any_any_plain_32x32", k32),        direct_row("conv_any_any_direct"),
    matmul_row("matmul_any_any_plain_128x128", k128), matmul_row("matmul_any_any_plain_64x64", k64),
    matmul_row("matmul_any_any_plain_32x32", k32),
};
const RegisterDeviceRows registered(kPlain);

}  // namespace
}  // namespace trine::cuda
