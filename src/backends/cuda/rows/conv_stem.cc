// The row of convolutions of up to four channels, as networks of images begin with, of f16 and bf16.
#include "backends/cuda/kernels/stem_sizes.cuh"
#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;

// As in conv_stem.cu.
constexpr int64_t kThreads = 256, kWarpColumns = 32, kMostGroups = 40, kGroupsOfTwoBlocks = 22;

const ConvProblem& of(const Problem& p) { return std::get<ConvProblem>(p); }

// A line of the window as the kernel sees it.
struct Line {
  int64_t lead = 0, halves = 0, groups = 0;
  bool odd = false;  // windows begin at odd halves, too

  explicit Line(const ConvProblem& p) : halves(p.kernel[2] * p.in_channels) {
    odd = p.stride[2] * p.in_channels % 2 != 0;
    lead = odd ? 0 : p.pad_begin[2] * p.in_channels & 1;
    groups = ceil_div(lead + halves, 8);
  }
};

// How outputs are shared out among blocks.
struct Plan {
  int64_t tile_h = 0, tile_w = 0, tiles = 0, staged_rows = 0, chunks = 0;
  int64_t shared_bytes = 0, blocks = 0;
  double seconds = 0;
};

int64_t column_warps(const ConvProblem& p) { return ceil_div(p.out_channels, kWarpColumns); }
int64_t row_warps(const ConvProblem& p) { return kThreads / 32 / column_warps(p); }
int64_t groups_of(const ConvProblem& p) { return p.kernel[1] * Line(p).groups; }

Plan plan_of(const ConvProblem& p, int64_t tile_h, int64_t tile_w, const DeviceTraits& traits) {
  const Line line(p);
  Plan t{.tile_h = tile_h, .tile_w = tile_w};
  t.tiles = p.n * ceil_div(p.out[1], tile_h) * ceil_div(p.out[2], tile_w);
  t.staged_rows = (tile_h - 1) * p.stride[1] + (p.kernel[1] - 1) * p.dilation[1] + 1;
  t.chunks = ceil_div(7 + (tile_w - 1) * p.stride[2] * p.in_channels + line.lead + line.halves, 8);
  const int64_t stage_bytes = t.staged_rows * t.chunks * 16 + 128;
  t.shared_bytes = (line.odd ? 3 : 2) * stage_bytes + 128;

  const int64_t units = std::max(traits.multiprocessors, 1);
  const int64_t resident = groups_of(p) <= kGroupsOfTwoBlocks && t.shared_bytes <= (96 << 10) ? 2 : 1;
  t.blocks = std::max<int64_t>(std::min(t.tiles, units * resident), 1);
  // A warp's 16 outputs: a product takes 8 cycles, of a chain of dependent ones 17 each; 100 instructions beside.
  constexpr double kCycle = 1 / 1.7e9;
  const double steps = static_cast<double>(groups_of(p)) / 2;
  const double alone = (steps * 35 + 400) * kCycle, shared = (steps * 4 * 8 + 130) / 4 * kCycle;
  const double rounds = static_cast<double>(ceil_div(ceil_div(tile_h * tile_w, 16), row_warps(p)));
  const double neighbours = static_cast<double>(ceil_div(t.blocks, units)), warps = static_cast<double>(kThreads) / 32;
  const double turn = rounds * std::max(alone, shared * warps * neighbours) + 0.25e-6;
  t.seconds = static_cast<double>(ceil_div(t.tiles, t.blocks)) * turn;
  return t;
}

// No plan fits where seconds are 0.
Plan plan_of(const ConvProblem& p, const DeviceTraits& traits) {
  Plan best;
  for (const int64_t width : {p.out[2], int64_t{128}, int64_t{64}, int64_t{32}, int64_t{16}})
    for (const int64_t height : {1, 2, 3, 4, 6, 8}) {
      if (width > p.out[2] || width > 512 || height > p.out[1]) continue;
      const Plan t = plan_of(p, height, width, traits);
      if (t.shared_bytes + 1024 > traits.shared_bytes_per_block) continue;
      if (best.seconds == 0 || t.seconds < best.seconds) best = t;
    }
  return best;
}

const char* fits(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  if (const char* reason = refusal_of(p)) return reason;
  if (p.types.in != p.types.weights || (p.types.in != DType::f16 && p.types.in != DType::bf16))
    return "operands other than f16 or bf16";
  if (p.groups != 1 || p.in_channels < 1 || p.in_channels > 4) return "groups, or more than 4 input channels";
  if (p.transposed) return "a transposed convolution";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  if (or_dense(p.in_pixel_stride, p.in_channels) != p.in_channels) return "pixels apart from each other";
  if (p.in[0] != 1 || p.out[0] != 1 || p.kernel[0] != 1 || p.pad_begin[0] != 0) return "a volume";
  if (p.dilation[2] != 1) return "a dilated line";
  if (p.out_channels > kThreads) return "more than 256 output channels";
  if (groups_of(p) > kMostGroups) return "a window of more than 40 groups of 8 numbers of a line";
  if (p.n * volume(p.in) * p.in_channels > INT32_MAX / 2) return "an input of more than 2^30 elements";
  if (p.n * volume(p.out) == 0) return nullptr;
  return plan_of(p, traits).seconds == 0 ? "more shared memory than there is" : nullptr;
}

double cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  const double memory = bytes(problem) / (0.85 * traits.bytes_per_second), work = plan_of(p, traits).seconds;
  return 2.3e-6 + std::max(memory, work) + 0.2 * std::min(memory, work);
}

size_t packed_bytes(const DeviceRow&, const Problem& problem) {
  return static_cast<size_t>(column_warps(of(problem)) * groups_of(of(problem)) * 32 * 16);
}

// [column warp][group][lane][4 products][2]: a lane's pair of halves of the group for each of its products' columns,
// whose numbers are such that a lane ends with the sums of eight neighbouring ones.
void prepack(const DeviceRow&, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const ConvProblem& p = of(problem);
  const Line line(p);
  const auto* from = static_cast<const uint16_t*>(weights[0]);
  auto* to = static_cast<uint16_t*>(packed);
  for (int64_t warp = 0; warp < column_warps(p); ++warp)
    for (int64_t group = 0; group < groups_of(p); ++group)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t product = 0; product < 4; ++product)
          for (int64_t half = 0; half < 2; ++half) {
            const int64_t column = warp * kWarpColumns + lane / 8 * 8 + product * 2 + lane / 4 % 2;
            const int64_t at = group % line.groups * 8 + lane % 4 * 2 + half - line.lead;
            const bool there = column < p.out_channels && at >= 0 && at < line.halves;
            const int64_t channel = at % p.in_channels, x = at / p.in_channels, y = group / line.groups;
            *to++ =
                there ? from[((column * p.in_channels + channel) * p.kernel[1] + y) * p.kernel[2] + x] : uint16_t{0};
          }
}

StemSizes sizes_of(const ConvProblem& p, const Plan& t) {
  const Line line(p);
  StemSizes s{};
  const auto number = [](int64_t n) { return static_cast<int>(n); };
  s.in_h = number(p.in[1]), s.in_row = number(p.in[2] * p.in_channels);
  s.out_h = number(p.out[1]), s.out_w = number(p.out[2]);
  s.step_x = number(p.stride[2] * p.in_channels), s.step_y = number(p.stride[1]);
  s.start_x = number(-p.pad_begin[2] * p.in_channels - line.lead), s.start_y = number(-p.pad_begin[1]);
  s.dilation_y = number(p.dilation[1]), s.lead = number(line.lead), s.line = number(line.halves);
  s.tile_h = number(t.tile_h), s.tile_w = number(t.tile_w), s.tiles = number(t.tiles);
  s.tile_columns = divider_of(t.tile_w);
  s.tiles_x = divider_of(ceil_div(p.out[2], t.tile_w)), s.tiles_y = divider_of(ceil_div(p.out[1], t.tile_h));
  s.staged_rows = number(t.staged_rows), s.chunks = number(t.chunks);
  s.odd = line.odd, s.whole = s.in_row % 8 == 0;
  s.columns = number(p.out_channels), s.column_warps = number(column_warps(p));
  s.y_row = number(or_dense(p.out_pixel_stride, p.out_channels)), s.y_aligned = s.y_row % 8 == 0;
  return s;
}

DeviceCall call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  DeviceCall call;
  if (p.n * volume(p.out) == 0) return call;
  const Plan plan = plan_of(p, traits);
  DeviceLaunch launch{.source = device_source("conv_stem.cu"),
                      .kernel = fmt::format("conv_stem<{}, {}, {}, {}>", p.types.in == DType::f16 ? "F16" : "Bf16",
                                            p.kernel[1], Line(p).groups, overlaps(traits)),
                      .shape = {.grid = {static_cast<uint32_t>(plan.blocks)},
                                .block = {static_cast<uint32_t>(row_warps(p) * column_warps(p) * 32)},
                                .shared_bytes = static_cast<uint32_t>(plan.shared_bytes),
                                .overlap = overlaps(traits)},
                      .arguments = {by_value(sizes_of(p, plan)), by_value(finish_of(p.types, p.epilogue, 1, {})),
                                    Role{Role::Kind::in}, Role{Role::Kind::packed}}};
  add_finish_operands(p.types, p.epilogue, launch.arguments);
  call.launches.push_back(std::move(launch));
  return call;
}

const DeviceRow kRows[] = {{.name = "conv_half_stem",
                            .op = OpKind::conv,
                            .architecture = 80,
                            .fits = fits,
                            .cost = cost,
                            .packed_bytes = packed_bytes,
                            .prepack = prepack,
                            .call = call}};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
