// Attention on devices: kernels/attention_mma.cu and, for few keys, attention_keys.cu for f16 and bf16,
// attention_plain.cu for everything.
#include <cmath>

#include "backends/cuda/rows/row_support.h"

namespace trine::cuda {
namespace {

using namespace dnn;

// Rows of a block: 64 * row_tiles. `split`: the keys among blocks.
struct Tile {
  int row_tiles, keys;
  bool split, whole;  // whole: all keys in one tile
};
constexpr Tile kSmall{1, 64, false, false}, kLarge{2, 64, false, false}, kWhole128{1, 128, false, true},
    kWhole208{1, 208, false, true}, kSplit{1, 64, true, false};

const AttentionProblem& of(const Problem& problem) { return std::get<AttentionProblem>(problem); }
const Tile& tile_of(const DeviceRow& row) { return *static_cast<const Tile*>(row.tile); }

// What kernels pad heads to.
int width_of(const AttentionProblem& p) {
  for (int width : {32, 64, 96, 128, 192, 256})
    if (p.head_dim <= width && p.v_head_dim <= width) return width;
  return 0;
}
int keys_of(const Tile& tile, int width) { return tile.whole || width <= 128 ? tile.keys : 32; }
uint32_t shared_of(const Tile& tile, int width) {
  return static_cast<uint32_t>(2 * width * (64 * tile.row_tiles + 2 * keys_of(tile, width)));
}

AttentionSizes sizes_of(const AttentionProblem& p, int64_t pack, int64_t block_rows) {
  AttentionSizes s{};
  for (size_t i = 0; i < 3; ++i)
    s.q[i] = p.q_stride[i], s.k[i] = p.k_stride[i], s.v[i] = p.v_stride[i], s.y[i] = p.out_stride[i];
  for (size_t i = 0; i < 4; ++i) s.mask_stride[i] = p.mask_stride[i];
  const auto number = [](int64_t x) {
    return static_cast<int>(std::clamp<int64_t>(x, -kMostItems / 2, kMostItems / 2));
  };
  s.batch = number(p.batch), s.heads = number(p.heads), s.kv_heads = number(p.kv_heads);
  s.q_len = number(p.q_len), s.kv_len = number(p.kv_len), s.d = number(p.head_dim), s.dv = number(p.v_head_dim);
  s.pack = number(pack), s.rows = number(p.q_len * pack);
  s.row_tiles = number((p.q_len * pack + block_rows - 1) / block_rows), s.splits = 1;
  s.scale = p.scale, s.softcap = p.softcap, s.dropout = p.dropout;
  s.causal = p.causal, s.causal_offset = number(p.causal_offset), s.bottom_right = p.bottom_right;
  s.window_left = number(p.window_left), s.window_right = number(p.window_right);
  s.lengths = p.lengths, s.alibi = p.alibi;
  s.mask = p.mask == MaskKind::none ? 0 : p.mask == MaskKind::additive ? 1 : 2;
  return s;
}

std::vector<DeviceArgument> operands(const AttentionProblem& p, const AttentionSizes& s) {
  const auto given = [](bool is, Role role) -> DeviceArgument {
    return is ? DeviceArgument(role) : by_value<void*>(nullptr);
  };
  return {by_value(s),
          in(0),
          in(1),
          in(2),
          given(p.mask != MaskKind::none, in(3)),
          given(p.lengths, in(4)),
          given(p.lengths, in(5)),
          given(p.alibi, in(6)),
          given(p.dropout > 0, in(7)),
          out(0),
          given(p.lse, out(1)),
          given(p.lengths, Role{Role::Kind::fault})};
}

std::string fault_text(const AttentionProblem& p) {
  if (!p.lengths) return {};
  return fmt::format("attention: length {{}}; want 0 to {} of queries, 0 to {} of keys", p.q_len, p.kv_len);
}

const char* plain_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const AttentionProblem& p = of(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  if (p.kv_heads <= 0 || p.heads % p.kv_heads) return "heads are no multiple of key/value heads";
  if (p.type != DType::f32 && p.type != DType::f16 && p.type != DType::bf16) return "types other than f32, f16, bf16";
  const double largest = static_cast<double>(std::max({p.q_len, p.kv_len, p.head_dim, p.v_head_dim})) *
                         static_cast<double>(p.heads / p.kv_heads);
  const double rows = static_cast<double>(p.batch * p.heads) * static_cast<double>(p.q_len);
  return largest >= 1 << 29 || rows >= 1 << 29 ? "2^29 positions or more" : nullptr;
}

DeviceCall plain_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const AttentionProblem& p = of(problem);
  DeviceCall call;
  call.fault = fault_text(p);
  if (p.batch * p.heads * p.q_len * p.v_head_dim == 0) return call;
  const AttentionSizes s = sizes_of(p, 1, 32);
  const int64_t blocks = p.batch * p.heads * s.row_tiles * ((p.v_head_dim + 255) / 256);
  call.launches.push_back(launch("attention_plain.cu", fmt::format("trine::attention_plain<{}>", element_name(p.type)),
                                 blocks_of(blocks, 1), operands(p, s)));
  return call;
}

// Microseconds that an H200 takes: a block of 32 queries needs 0.8 for each key, and blocks of a multiprocessor
// hardly overlap.
double plain_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  const double blocks = std::ceil(static_cast<double>(p.q_len) / 32) * static_cast<double>(p.batch * p.heads);
  const double waves = std::max(1.0, blocks / traits.multiprocessors);
  const double wide = std::max(1.0, static_cast<double>(std::max(p.head_dim, p.v_head_dim)) / 128);
  const double keys = static_cast<double>(p.kv_len) * (p.causal ? 0.53 : 1.0);
  return 1e-6 * (4 + 0.8 * waves * keys * wide) + bytes(problem) / traits.bytes_per_second;
}

const char* mma_fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  const Tile& tile = tile_of(row);
  if (const char* reason = plain_fits(row, problem, traits)) return reason;
  if (p.type == DType::f32) return "f32";
  if (p.dropout > 0) return "dropout";
  const int width = width_of(p);
  if (!width) return "heads of more than 256";
  if (p.head_dim == 0 || p.v_head_dim == 0) return "empty heads";
  if (tile.row_tiles > 1 && width > 128) return "heads of more than 128";
  if (tile.whole && (width > 64 || p.kv_len > tile.keys)) return "more keys than a tile has, or heads of more than 64";
  if (tile.split && p.kv_len <= 2 * tile.keys) return "too few keys to split";
  if (tile.split && p.q_len > 64) return "more than 64 queries";
  return shared_of(tile, width) > traits.shared_bytes_per_block ? "too little shared memory" : nullptr;
}

// Heads that share keys fill the rows of a tile when there are few queries.
int64_t pack_of(const AttentionProblem& p) {
  const int64_t group = p.heads / p.kv_heads;
  return p.q_len < 32 ? group : 1;
}

// So many parts of the keys that the blocks fill the device twice over, each with two tiles at least.
int64_t splits_of(const AttentionProblem& p, const Tile& tile, int64_t blocks, const DeviceTraits& traits) {
  if (!tile.split) return 1;
  const int64_t tiles = (p.kv_len + keys_of(tile, width_of(p)) - 1) / keys_of(tile, width_of(p));
  const int64_t wanted = (2 * traits.multiprocessors + blocks - 1) / std::max<int64_t>(blocks, 1);
  return std::clamp<int64_t>(wanted, 2, std::min<int64_t>(64, std::max<int64_t>(2, tiles / 2)));
}

struct Layout {
  AttentionSizes sizes;
  int64_t blocks;
};
Layout layout_of(const AttentionProblem& p, const Tile& tile, const DeviceTraits& traits) {
  const int64_t pack = pack_of(p);
  AttentionSizes s = sizes_of(p, pack, 64 * tile.row_tiles);
  const int64_t blocks = p.batch * (p.heads / pack) * s.row_tiles;
  s.splits = static_cast<int>(splits_of(p, tile, blocks, traits));
  return {s, blocks * s.splits};
}

// The kernel's Scores.
int scores_of(const AttentionProblem& p) {
  constexpr int kAny = 0, kPlain = 1, kKeyMask = 2;
  if (p.alibi || p.softcap > 0) return kAny;
  if (p.mask == MaskKind::none) return p.scale > 0 ? kPlain : kAny;
  const bool of_keys = p.mask_stride[1] == 0 && p.mask_stride[2] == 0 && p.mask_stride[3] == 1;
  return p.mask == MaskKind::additive && of_keys ? kKeyMask : kAny;
}

DeviceCall mma_call(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  const Tile& tile = tile_of(row);
  DeviceCall call;
  call.fault = fault_text(p);
  if (p.batch * p.heads * p.q_len == 0) return call;
  const auto [s, blocks] = layout_of(p, tile, traits);
  std::vector<DeviceArgument> arguments = operands(p, s);
  const int64_t rows = p.batch * p.heads * p.q_len;
  if (s.splits > 1) call.workspace_bytes = static_cast<size_t>(4 * s.splits * rows * (p.v_head_dim + 1));
  arguments.push_back(s.splits > 1 ? DeviceArgument(workspace(0)) : by_value<void*>(nullptr));
  const int width = width_of(p);
  call.launches.push_back(launch("attention_mma.cu",
                                 fmt::format("trine::attention_mma<{}, {}, {}, {}, {}>", element_name(p.type), width,
                                             tile.row_tiles, keys_of(tile, width), scores_of(p)),
                                 blocks_of(blocks, 1), arguments, {128, 1, 1}, shared_of(tile, width)));
  if (s.splits > 1)
    call.launches.push_back(launch("attention_mma.cu", fmt::format("trine::attention_joined<{}>", element_name(p.type)),
                                   blocks_of(rows, 8), arguments));
  return call;
}

// Microseconds that an H200 takes for 64 keys, with heads of 0 and for each 64 more: of a block alone (it waits for
// memory), of one among others, and what masks add to each; and what a launch and a block cost besides.
struct Pace {
  double alone, alone_64, among, among_64, mask_alone, mask_among, launch, block;
};
constexpr Pace kPaceSmall{0.78, 0.68, 0.38, 0.40, 2.0, 1.46, 4.4, 1.1},
    kPaceLarge{1.3, 1.0, 0.72, 0.67, 3.75, 2.6, 6.6, 3.6}, kPaceWhole{0.72, 0.68, 0.65, 0.40, 1.45, 0.8, 4.4, 1.1};

double mma_cost(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  const Tile& tile = tile_of(row);
  const auto [s, blocks] = layout_of(p, tile, traits);
  const Pace& pace = tile.whole ? kPaceWhole : tile.row_tiles > 1 ? kPaceLarge : kPaceSmall;
  const double width = width_of(p) / 64.0, tile_keys = keys_of(tile, width_of(p));
  // Blocks of causal problems end at different times, large ones more so.
  const double seen = p.causal && p.q_len > 1 ? 0.5 + 0.13 * tile.row_tiles : 1.0;
  const double tiles = std::ceil(static_cast<double>(p.kv_len) / s.splits / tile_keys);
  const double units = tiles * tile_keys / 64 * seen;
  const bool changed = p.mask != MaskKind::none || p.alibi || p.softcap > 0;
  const double alone = units * (pace.alone + pace.alone_64 * width + (changed ? pace.mask_alone : 0));
  const double among = pace.block + units * (pace.among + pace.among_64 * width + (changed ? pace.mask_among : 0));
  const double moved = 1e6 * bytes(problem) / (0.73 * traits.bytes_per_second);
  const double joined = s.splits > 1 ? 4 + 0.4 * s.splits : 0;
  const double busy = std::max({alone, among * static_cast<double>(blocks) / traits.multiprocessors, moved});
  return 1e-6 * (pace.launch + busy + joined);
}

// attention_keys.cu: a warp for each 32 keys, tiles of 16 rows.
int warps_of(const AttentionProblem& p) { return static_cast<int>((p.kv_len + 31) / 32); }
uint32_t keys_shared_of(const AttentionProblem& p) {
  return static_cast<uint32_t>(warps_of(p) * 16 * static_cast<int>(p.head_dim) * 4);
}

const char* keys_fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  if (const char* reason = plain_fits(row, problem, traits)) return reason;
  if (p.type == DType::f32) return "f32";
  if (p.dropout > 0) return "dropout";
  if (p.head_dim != p.v_head_dim || p.head_dim % 32 || p.head_dim == 0 || p.head_dim > 128)
    return "heads other than 32, 64, 96, 128";
  if (p.kv_len == 0 || p.kv_len > (p.head_dim > 64 ? 256 : 512)) return "no or too many keys";
  for (int i = 0; i < 3; ++i)
    if (p.q_stride[i] % 8 || p.k_stride[i] % 8 || p.v_stride[i] % 8 || p.out_stride[i] % 8)
      return "strides that are no multiples of 8";
  return keys_shared_of(p) + 8 * 16 * warps_of(p) > traits.shared_bytes_per_block ? "too little shared memory"
                                                                                  : nullptr;
}

// The blocks that walk over the rows of one head: as many as fill the device three times over.
Layout keys_layout_of(const AttentionProblem& p, const DeviceTraits& traits) {
  AttentionSizes s = sizes_of(p, pack_of(p), 16);
  const int64_t heads = p.batch * (p.heads / s.pack), room = std::max(1, 16 / warps_of(p)) * traits.multiprocessors;
  s.row_tiles = static_cast<int>(std::clamp<int64_t>((room + heads - 1) / heads, 1, s.row_tiles));
  return {s, heads * s.row_tiles};
}

DeviceCall keys_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  DeviceCall call;
  call.fault = fault_text(p);
  if (p.batch * p.heads * p.q_len == 0) return call;
  const auto [s, blocks] = keys_layout_of(p, traits);
  call.launches.push_back(launch(
      "attention_keys.cu",
      fmt::format("trine::attention_keys<{}, {}, {}, {}>", element_name(p.type), p.head_dim, warps_of(p), scores_of(p)),
      blocks_of(blocks, 1), operands(p, s), {static_cast<uint32_t>(32 * warps_of(p)), 1, 1}, keys_shared_of(p)));
  return call;
}

// By count of instructions, not by measurement: a warp's tile takes 0.09 us of a multiprocessor with heads of 64, a
// block alone 1.3 us to its first result and 0.45 for each tile behind.
double keys_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const AttentionProblem& p = of(problem);
  const auto [s, blocks] = keys_layout_of(p, traits);
  const double width = static_cast<double>(p.head_dim) / 64;
  const double tiles = std::ceil(static_cast<double>(s.rows) / 16) * static_cast<double>(p.batch * (p.heads / s.pack));
  const double changed = p.mask == MaskKind::none && !p.alibi && p.softcap <= 0 ? 1 : 1.2;
  const double each = std::ceil(tiles / static_cast<double>(blocks));
  const double alone = 1.3 + 0.45 * (each - 1) * changed * width;
  const double among = 0.09 * changed * width * tiles * warps_of(p) / traits.multiprocessors;
  const double moved = 1e6 * bytes(problem) / (0.73 * traits.bytes_per_second);
  return 1e-6 * (4.4 + std::max({alone, among, moved}));
}

DeviceRow mma_row(std::string_view name, const Tile& tile) {
  return {.name = name,
          .op = OpKind::attention,
          .architecture = 80,
          .tile = &tile,
          .fits = mma_fits,
          .cost = mma_cost,
          .call = mma_call};
}

const DeviceRow kAttention[] = {
    mma_row("attention_half_mma_128x64", kLarge),
    mma_row("attention_half_mma_64x64", kSmall),
    mma_row("attention_half_mma_64_of_128", kWhole128),
    mma_row("attention_half_mma_64_of_208", kWhole208),
    mma_row("attention_half_mma_split_keys", kSplit),
    {.name = "attention_half_mma_keys_by_warp",
     .op = OpKind::attention,
     .architecture = 80,
     .fits = keys_fits,
     .cost = keys_cost,
     .call = keys_call},
    {.name = "attention_any_plain",
     .op = OpKind::attention,
     .fits = plain_fits,
     .cost = plain_cost,
     .call = plain_call},
};
const RegisterDeviceRows registered(kAttention);

}  // namespace
}  // namespace trine::cuda
