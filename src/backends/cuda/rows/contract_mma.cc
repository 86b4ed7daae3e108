// Rows on tensor cores of sm_80 and later: convolutions and products of f16, bf16, tf32 and 8-bit integers.
#include <cstring>

#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;
using contraction::Mma;
using Kind = Role::Kind;

enum class Family : uint8_t { half, tf32, int8 };

struct MmaTile {
  Family family;
  int rows, columns, warp_rows, warp_columns, stages;
  double share;  // of what tensor cores reach with the largest tile

  int element_bytes() const { return family == Family::half ? 2 : family == Family::tf32 ? 4 : 1; }
  int vector() const { return 16 / element_bytes(); }
  int step() const { return 128 / element_bytes(); }
  uint32_t threads() const { return static_cast<uint32_t>(32 * warp_rows * warp_columns); }
  uint32_t shared_bytes() const {
    return static_cast<uint32_t>(std::max(stages * (rows + columns) * 128, rows * (columns + 8) * 4));
  }
};

const MmaTile& tile_of(const DeviceRow& row) { return *static_cast<const MmaTile*>(row.tile); }

// A convolution or product as tensor-core kernels see it, whatever the tile.
struct Work {
  ElementTypes types;
  Epilogue epilogue;
  float factor = 1;
  int64_t members = 1, rows = 0, columns = 0;
  int64_t positions = 1, channels = 0;  // of depth
  bool packed = true;
  Mma args{};

  int64_t b_row(const MmaTile& t) const { return round_up(positions * round_up(channels, t.vector()), t.step()); }
  int64_t weights_bytes(const MmaTile& t) const {
    return packed ? members * columns * b_row(t) * t.element_bytes() : 0;
  }
  int64_t packed_bytes(const MmaTile& t) const {
    return weights_bytes(t) + (packed && t.family == Family::int8 ? members * columns * 4 : 0);
  }
  int64_t steps(const MmaTile& t) const { return ceil_div(positions * round_up(channels, t.vector()), t.step()); }
  int64_t partial_row() const { return round_up(columns, 8); }
  int64_t partial_bytes() const { return members * rows * partial_row() * 4; }  // of one part of depth
  int64_t tiles(const MmaTile& t) const { return members * ceil_div(rows, t.rows) * ceil_div(columns, t.columns); }
};

bool is_pointwise(const ConvProblem& p) {
  const Extents ones{1, 1, 1}, zeros{0, 0, 0};
  return p.kernel == ones && p.stride == ones && p.pad_begin == zeros && p.in == p.out;
}

// Few channels without gaps between pixels: a line of the window is read as one position.
bool reads_lines(const ConvProblem& p) {
  return p.groups == 1 && p.in_channels <= 4 && p.kernel[2] > 1 && p.dilation[2] == 1 &&
         or_dense(p.in_pixel_stride, p.in_channels) == p.in_channels;
}

Work work_of(const ConvProblem& p) {
  Work w{.types = p.types,
         .epilogue = p.epilogue,
         .members = p.groups,
         .rows = p.n * volume(p.out),
         .columns = p.out_per_group(),
         .positions = volume(p.kernel),
         .channels = p.in_per_group()};
  const contraction::Window window = window_of(p);
  Mma& a = w.args;
  a.plain = is_pointwise(p);
  a.a_row = a.pixel = static_cast<int>(window.pixel), a.image = static_cast<int>(window.image);
  for (size_t i = 0; i < 3; ++i) {
    a.in[i] = window.in[i], a.out[i] = divider_of(window.out[i]), a.kernel[i] = window.kernel[i];
    a.stride[i] = window.stride[i], a.dilation[i] = divider_of(window.dilation[i]), a.pad[i] = window.pad[i];
  }
  if (reads_lines(p)) {
    a.patch = static_cast<int>(p.in_channels), a.line = a.kernel[2];
    a.kernel[2] = 1;
    w.positions /= a.line, w.channels *= a.line;
  }
  a.y_row = or_dense(p.out_pixel_stride, p.out_channels), a.y_batch = p.out_per_group();
  a.column_batch = static_cast<int>(p.out_per_group());
  a.batches.rank = 1, a.batches.extent[0] = static_cast<int>(p.groups), a.batches.a_step[0] = p.in_per_group();
  return w;
}

Work work_of(const MatmulProblem& p) {
  const MatmulShape shape(p);
  Work w{.types = p.types,
         .epilogue = p.epilogue,
         .factor = p.alpha,
         .members = shape.batch,
         .rows = shape.rows,
         .columns = p.n,
         .channels = p.k,
         .packed = p.b_constant};
  Mma& a = w.args;
  a.plain = true;
  a.a_row = static_cast<int>(p.k);
  for (size_t i = 0; i < 3; ++i) {
    a.kernel[i] = a.in[i] = 1;
    a.out[i] = a.dilation[i] = divider_of(1);
  }
  a.y_row = or_dense(p.out_row_stride, p.n), a.y_batch = shape.rows * a.y_row;
  a.batches = shape.batches;
  return w;
}

Work work_of(const Problem& problem) {
  if (const auto* conv = std::get_if<ConvProblem>(&problem)) return work_of(*conv);
  return work_of(std::get<MatmulProblem>(problem));
}

const char* types_refusal(const MmaTile& t, const ElementTypes& types) {
  if (t.family == Family::int8) return types.are_integers() ? nullptr : "operands other than 8-bit integers";
  if (types.in != types.weights) return "operands of two types";
  if (t.family == Family::tf32) return types.in == DType::f32 ? nullptr : "operands other than f32";
  return types.in == DType::f16 || types.in == DType::bf16 ? nullptr : "operands other than f16 or bf16";
}

const char* shape_refusal(const ConvProblem& p) {
  if (const char* reason = refusal_of(p)) return reason;
  if (p.transposed) return "a transposed convolution";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  if (p.kernel[0] > 7 || p.kernel[1] > 12 || p.kernel[2] > 12) return "a kernel of more than 7x12x12";
  if (p.in_per_group() < 1) return "no channels";
  const int64_t pixel = or_dense(p.in_pixel_stride, p.in_channels);
  if ((p.n + 1) * (volume(p.in) + 1) * pixel > INT32_MAX / 2) return "an input of more than 2^30 elements";
  for (size_t i = 0; i < 3; ++i)
    if (std::abs(p.pad_begin[i]) + p.kernel[i] * p.dilation[i] > 4096) return "a window of more than 4096 pixels";
  return nullptr;
}

const char* shape_refusal(const MatmulProblem& p) {
  if (const char* reason = refusal_of(p)) return reason;
  if (p.trans_a) return "a transposed a";
  if (!p.b_constant && (!p.trans_b || p.types.are_integers())) return "a right side neither constant nor transposed";
  if (p.k < 1) return "no products";
  return MatmulShape(p).rows * p.k > INT32_MAX / 2 ? "an input of more than 2^30 elements" : nullptr;
}

const char* fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const MmaTile& t = tile_of(row);
  if (const char* reason = types_refusal(t, types_of(problem))) return reason;
  const char* reason = std::visit(
      [](const auto& p) -> const char* {
        if constexpr (requires { shape_refusal(p); }) return shape_refusal(p);
        return "another problem";
      },
      problem);
  if (reason) return reason;
  if (t.shared_bytes() > traits.shared_bytes_per_block) return "more shared memory than there is";
  return work_of(problem).tiles(t) > INT32_MAX / 64 ? "more than 2^25 tiles" : nullptr;
}

// Tensor cores' operations a second over f32's, with mma.sync.
double tensor_factor(const DeviceTraits& traits, Family family) {
  const double half = traits.architecture == 80                                 ? 6.4
                      : traits.architecture == 90 || traits.architecture == 100 ? 9.6
                                                                                : 3.2;
  return family == Family::half ? half : family == Family::tf32 ? half / 2 : half * 2;
}

double seconds_of(const MmaTile& t, const Work& w, int64_t splits, const DeviceTraits& traits) {
  constexpr double kStart = 1.9e-6, kFill = 0.5e-6;
  const double units = std::max(traits.multiprocessors, 1), blocks = static_cast<double>(w.tiles(t) * splits);
  // From the L2 cache a lone multiprocessor of 132 reads 185 GB/s, each of all of them 68.
  const double unit_bytes =
      traits.bytes_per_second / units * 2 * (2.7 - 1.7 * std::sqrt(std::min(1.0, blocks / units)));
  const double unit_flops = traits.flops_per_second / units * tensor_factor(traits, t.family) * t.share;
  const double depth = static_cast<double>(ceil_div(w.steps(t), splits));
  // Estimates: what begins and ends a tile of 64 x 128, what windows of few channels cost.
  const bool is_long = w.epilogue.activation > Activation::clip;  // gelu, measured: 64x64 13.4 us where 6.7 were said
  const double hindrance = w.args.patch ? 5 : 1.3;
  const double ends = 1.2e-6 * (is_long ? 8 : 1) * std::sqrt(t.rows * t.columns / 8192.0);
  const double step =
      hindrance * std::max((t.rows + t.columns) * 128 / unit_bytes, 2.0 * t.rows * t.columns * t.step() / unit_flops);
  double seconds = kStart + kFill + std::ceil(blocks / units) * (depth * std::max(step, 0.06e-6) + ends);
  const double elements = static_cast<double>(w.members * w.rows * w.columns);
  if (splits > 1) seconds += kStart + elements * 4 * (2 * static_cast<double>(splits)) / (2 * traits.bytes_per_second);
  return seconds;
}

constexpr int64_t kMostPartialBytes = 64 << 20;

int64_t splits_of(const MmaTile& t, const Work& w, const DeviceTraits& traits) {
  int64_t best = 1;
  for (const int64_t splits : {2, 3, 4, 6, 8, 12, 16}) {
    if (w.steps(t) < 2 * splits || splits * w.partial_bytes() > kMostPartialBytes) break;
    if (seconds_of(t, w, splits, traits) < seconds_of(t, w, best, traits)) best = splits;
  }
  return best;
}

double cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const Work w = work_of(problem);
  return seconds_of(tile_of(row), w, splits_of(tile_of(row), w, traits), traits);
}

// [member][column][(position, channel)], channels padded to 16 bytes and rows to 128, then the i32 sum of every column
// of 8-bit integers.
template <class T, class At>
void pack(const MmaTile& t, const Work& w, const void* weights, At at, void* packed) {
  const auto* from = static_cast<const T*>(weights);
  const int64_t padded = round_up(w.channels, t.vector()), b_row = w.b_row(t);
  auto* sums = reinterpret_cast<int32_t*>(static_cast<char*>(packed) + w.weights_bytes(t));
  for (int64_t row = 0; row < w.members * w.columns; ++row) {
    T* to = static_cast<T*>(packed) + row * b_row;
    int32_t sum = 0;
    for (int64_t tap = 0; tap < w.positions; ++tap)
      for (int64_t c = 0; c < w.channels; ++c) {
        const T x = from[at(row, tap, c)];
        to[tap * padded + c] = x;
        if constexpr (sizeof(T) == 1) sum += x;
      }
    if constexpr (sizeof(T) == 1) sums[row] = sum;
  }
}

void prepack(const DeviceRow& row, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const MmaTile& t = tile_of(row);
  const Work w = work_of(problem);
  std::memset(packed, 0, static_cast<size_t>(w.packed_bytes(t)));
  const auto* product = std::get_if<MatmulProblem>(&problem);
  const auto at = [&](int64_t column, int64_t tap, int64_t c) {
    const int64_t line = std::max(w.args.line, 1), channels = w.channels / line;  // c counts pixels of a line, too
    if (!product) return (column * channels + c % channels) * w.positions * line + tap * line + c / channels;
    return product->trans_b ? column * product->k + c : c * product->n + column;
  };
  if (t.element_bytes() == 4) pack<uint32_t>(t, w, weights[0], at, packed);
  else if (t.element_bytes() == 2) pack<uint16_t>(t, w, weights[0], at, packed);
  else pack<int8_t>(t, w, weights[0], at, packed);
}

Mma arguments_of(const MmaTile& t, const Work& w, int64_t splits) {
  Mma a = w.args;
  a.rows = static_cast<int>(w.rows), a.columns = static_cast<int>(w.columns), a.members = static_cast<int>(w.members);
  a.steps = static_cast<int>(w.steps(t)), a.splits = divider_of(splits);
  a.split_steps = static_cast<int>(ceil_div(w.steps(t), splits));
  a.row_tiles = divider_of(ceil_div(w.rows, t.rows)), a.column_tiles = divider_of(ceil_div(w.columns, t.columns));
  a.channels = static_cast<int>(w.channels);
  a.padded_channels = static_cast<int>(round_up(w.channels, t.vector()));
  a.b_row = static_cast<int>(w.packed ? w.b_row(t) : w.channels);
  a.b_depth = a.b_row, a.constant_b = w.packed;
  if (w.packed && w.args.batches.rank == 1 && w.args.column_batch) a.batches.b_step[0] = w.columns * a.b_row;
  const auto whole = [&](int64_t step) { return step % t.vector() == 0; };
  a.whole = !a.patch && whole(a.channels) && whole(a.a_row) && whole(a.image);
  for (int i = 0; i < a.batches.rank; ++i)
    a.whole = a.whole && (a.batches.extent[i] == 1 || whole(a.batches.a_step[i]));
  a.y_aligned = a.y_row % 8 == 0 && (w.members == 1 || (a.y_batch % 8 == 0 && a.column_batch % 8 == 0));
  a.partial_row = static_cast<int>(w.partial_row());
  a.row_eights = divider_of(w.partial_row() / 8), a.member_rows = divider_of(w.rows);
  return a;
}

std::string_view type_name(const MmaTile& t, DType in) {
  if (t.family == Family::tf32) return "Tf32";
  return in == DType::f16 ? "F16" : in == DType::bf16 ? "Bf16" : in == DType::i8 ? "I8" : "U8";
}

DeviceCall call_integers(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits,
                         const Quantization& quantization) {
  const MmaTile& t = tile_of(row);
  const Work w = work_of(problem);
  DeviceCall call;
  if (w.rows * w.columns * w.members == 0) return call;
  const int64_t splits = splits_of(t, w, traits);
  const Mma args = arguments_of(t, w, splits);
  const auto finish = by_value(finish_of(w.types, w.epilogue, w.factor, quantization));
  const auto null = by_value(static_cast<const void*>(nullptr));
  const compute::DeviceArgument sums =
      t.family == Family::int8 ? compute::DeviceArgument(Role{Kind::packed, 0, w.weights_bytes(t)}) : null;
  const Role partial{Kind::workspace};
  DeviceLaunch launch{
      .source = device_source("contract_mma.cu"),
      .kernel = fmt::format("contract_mma<{}, {}, {}, {}, {}, {}, {}>", type_name(t, w.types.in), t.rows, t.columns,
                            t.warp_rows, t.warp_columns, t.stages, overlaps(traits)),
      .shape = {.grid = {static_cast<uint32_t>(w.tiles(t) * splits)},
                .block = {t.threads()},
                .shared_bytes = t.shared_bytes(),
                .overlap = overlaps(traits)},
      .arguments = {by_value(args), finish, Role{Kind::in, 0}, w.packed ? Role{Kind::packed} : Role{Kind::in, 1}, sums,
                    splits > 1 ? compute::DeviceArgument(partial) : null}};
  add_finish_operands(w.types, w.epilogue, launch.arguments);
  call.launches.push_back(std::move(launch));
  if (splits == 1) return call;
  call.workspace_bytes = static_cast<size_t>(splits * w.partial_bytes());
  const int64_t threads = w.members * w.rows * w.partial_row() / 8;
  DeviceLaunch sum{
      .source = device_source("contract_mma.cu"),
      .kernel = fmt::format("contract_sum<{}, {}>", t.family == Family::int8 ? "int" : "float", overlaps(traits)),
      .shape = {.grid = {static_cast<uint32_t>(ceil_div(threads, 64))}, .block = {64}, .overlap = overlaps(traits)},
      .arguments = {by_value(args), finish, sums, partial}};
  add_finish_operands(w.types, w.epilogue, sum.arguments);
  call.launches.push_back(std::move(sum));
  return call;
}

constexpr MmaTile tile(Family family, int rows, int columns, int warp_rows, int warp_columns, int stages,
                       double share) {
  return {family, rows, columns, warp_rows, warp_columns, stages, share};
}
constexpr std::array<MmaTile, 5> tiles(Family f) {
  return {tile(f, 128, 128, 2, 2, 3, 1.0), tile(f, 128, 64, 2, 2, 3, 0.85), tile(f, 64, 64, 2, 2, 4, 0.65),
          tile(f, 64, 32, 2, 2, 4, 0.45), tile(f, 32, 64, 1, 4, 4, 0.45)};
}
constexpr std::array<MmaTile, 5> kHalf = tiles(Family::half), kTf32 = tiles(Family::tf32), kInt8 = tiles(Family::int8);

constexpr DeviceRow row(OpKind op, std::string_view name, const MmaTile& t) {
  return {.name = name,
          .op = op,
          .architecture = 80,
          .tf32 = t.family == Family::tf32,
          .tile = &t,
          .fits = fits,
          .cost = cost,
          .packed_bytes =
              [](const DeviceRow& row, const Problem& problem) {
                return static_cast<size_t>(work_of(problem).packed_bytes(tile_of(row)));
              },
          .prepack = prepack,
          .call = [](const DeviceRow& row, const Problem& problem,
                     const DeviceTraits& traits) { return call_integers(row, problem, traits, {}); },
          .call_integers = call_integers};
}

#define TRINE_ROWS(family, tiles)                                     \
  row(OpKind::conv, "conv_" family "_mma_128x128", tiles[0]),         \
      row(OpKind::conv, "conv_" family "_mma_128x64", tiles[1]),      \
      row(OpKind::conv, "conv_" family "_mma_64x64", tiles[2]),       \
      row(OpKind::conv, "conv_" family "_mma_64x32", tiles[3]),       \
      row(OpKind::conv, "conv_" family "_mma_32x64", tiles[4]),       \
      row(OpKind::matmul, "matmul_" family "_mma_128x128", tiles[0]), \
      row(OpKind::matmul, "matmul_" family "_mma_128x64", tiles[1]),  \
      row(OpKind::matmul, "matmul_" family "_mma_64x64", tiles[2]),   \
      row(OpKind::matmul, "matmul_" family "_mma_64x32", tiles[3]),   \
      row(OpKind::matmul, "matmul_" family "_mma_32x64", tiles[4])
const DeviceRow kRows[] = {TRINE_ROWS("half", kHalf), TRINE_ROWS("tf32", kTf32), TRINE_ROWS("int8", kInt8)};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
