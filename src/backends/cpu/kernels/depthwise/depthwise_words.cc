// Depthwise convolutions by words of taps, nhwc: blocks of channels outermost, so that the rows in work stay in L1;
// rows of pointers to pixels, padding pointing at zeros, which every row of outputs that reads them shares.
#include "backends/cpu/kernels/depthwise/depthwise_words.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

#if defined(__x86_64__)
namespace trine::cpu {

namespace {

using namespace dnn;

constexpr int kStrip = 56;  // columns whose pointers are in work
constexpr int kStripPixels = (kStrip - 1) * 2 + kWordsKernel + kWordsSpare;
constexpr int kRows = 8;   // of pointers, at least kWordsKernel
constexpr int kGroup = 4;  // blocks that share pointers
constexpr int kPaddingBytes = kGroup * kWordsBlock * 2;

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

// Tiles of that many columns leave least over.
int tile_choice(const ConvProblem& p) { return p.out[2] % kWordsColumns[0] == 0 ? 0 : 1; }

size_t workspace(const ConvProblem& p) {
  Carver carver;
  carver.take<char>(ColumnNumbers::bytes(p.types, 1, p.in_channels));
  carver.take<char>(kPaddingBytes);
  return carver.used();
}

int64_t blocks(const ConvProblem& p) { return (p.in_channels + kWordsBlock - 1) / kWordsBlock; }

int64_t block_bytes(const WordsIsa& isa, const ConvProblem& p) {
  return p.kernel[1] * isa.words(p.kernel[2]) * isa.shifts(p.stride[2]) * 2 * kPanel * 4;
}

// Pointers to the pixels of rows of the input, from the first that a strip reads.
class PixelRows {
 public:
  PixelRows(const ConvProblem& p, const char* image, int64_t pixel_step, const void* padding, int64_t x0, int64_t width)
      : p_(p), image_(image), step_(pixel_step), padding_(padding), x0_(x0), width_(width) {}

  // Those from y on; they follow the ones asked for before, or begin anew.
  void seek(int64_t y, const void* const** rows) {
    for (int64_t ky = 0; ky < p_.kernel[1]; ++ky) {
      const void** row = pixels_[(y + ky) & (kRows - 1)];
      if (y + ky >= next_) fill(y + ky, row);
      rows[ky] = row;
    }
    next_ = std::max(next_, y + p_.kernel[1]);
  }

 private:
  void fill(int64_t y, const void** to) const {
    if (y < 0 || y >= p_.in[1]) return void(std::fill_n(to, width_, padding_));
    int64_t begin = std::clamp<int64_t>(-x0_, 0, width_), end = std::clamp<int64_t>(p_.in[2] - x0_, begin, width_);
    std::fill_n(to, begin, padding_);
    const char* row = image_ + (y * p_.in[2] + x0_) * step_;
    for (int64_t x = begin; x < end; ++x) to[x] = row + x * step_;
    std::fill_n(to + end, width_ - end, padding_);
  }

  const ConvProblem& p_;
  const char* image_;
  int64_t step_;
  const void* padding_;
  int64_t x0_, width_, next_ = INT64_MIN;
  const void* pixels_[kRows][kStripPixels];
};

class Words {
 public:
  Words(const WordsIsa& isa, const ConvProblem& p, const Args& args)
      : isa_(isa),
        p_(p),
        x_(static_cast<const char*>(args.in[0])),
        y_(static_cast<char*>(args.out[0])),
        weights_(static_cast<const char*>(args.packed)),
        x_step_(pixel_stride(p.in_pixel_stride, p.in_channels) * isa.element_bytes()),
        y_element_(static_cast<int64_t>(byte_size(p.types.out))),
        y_step_(pixel_stride(p.out_pixel_stride, p.out_channels) * y_element_),
        epilogue_(TileEpilogue::from(p.epilogue, args.bias, args.residual, y_, p.types.out)) {
    Carver carver(args.workspace);
    ColumnNumbers channels(p.types, args, 1, p.in_channels,
                           carver.take<char>(ColumnNumbers::bytes(p.types, 1, p.in_channels)));
    if (p.types.are_integers())
      channels.fill(0, reinterpret_cast<const int32_t*>(weights_ + blocks(p) * block_bytes(isa, p)));
    channels.set(0, epilogue_);
    padding_ = carver.take<char>(kPaddingBytes);
    std::memset(padding_, p.types.are_integers() ? channels.padding() : 0, kPaddingBytes);
    narrows_ = byte_size(p.types.out) == byte_size(p.types.in) && p.epilogue.residual == Residual::none &&
               epilogue_.out_multiplier > 0;
  }

  // Rows of outputs are the unit of work that threads share.
  int64_t rows() const { return p_.n * p_.out[1]; }

  void run(int64_t begin, int64_t end) const {
    int64_t all = blocks(p_);
    for (int64_t block = 0; block < all; block += kGroup) {
      Group group;
      group.blocks = static_cast<int>(std::min<int64_t>(kGroup, all - block));
      for (int i = 0; i < group.blocks; ++i) group.tiles[i] = tile_at(block + i, group.numbers[i]);
      for (int64_t row = begin; row < end;) {
        int64_t n = row / p_.out[1], next = std::min(end, (n + 1) * p_.out[1]);
        for (int64_t ox = 0; ox < p_.out[2]; ox += kStrip)
          run_strip(group, n, row % p_.out[1], next - n * p_.out[1], ox);
        row = next;
      }
    }
  }

 private:
  struct Group {
    int blocks;
    WordsTile tiles[kGroup];
    WordsNumbers numbers[kGroup];
  };

  WordsTile tile_at(int64_t block, WordsNumbers& numbers) const {
    WordsTile t{};
    t.kernel_rows = static_cast<int>(p_.kernel[1]);
    t.weights = weights_ + block * block_bytes(isa_, p_);
    t.channel = block * kWordsBlock;
    t.channels = static_cast<int>(std::min<int64_t>(kWordsBlock, p_.in_channels - t.channel));
    t.out_step = y_step_;
    t.narrows = narrows_;
    t.numbers = &numbers;
    t.epilogue = &epilogue_;
    bool integers = p_.types.are_integers();
    const void* start = integers ? static_cast<const void*>(epilogue_.offsets) : narrows_ ? epilogue_.bias : nullptr;
    spread(t, start, numbers.start);
    if (!integers || !narrows_) return t;
    spread(t, epilogue_.scales, numbers.scale);
    spread(t, epilogue_.bias, numbers.bias);
    return t;
  }

  // Words of 32 bits by channel in the order of sums; null stands for zeros.
  void spread(const WordsTile& t, const void* from, void* to) const {
    std::memset(to, 0, sizeof WordsNumbers::start);
    if (!from) return;
    const char* source = static_cast<const char*>(from) + t.channel * 4;
    for (int i = 0; i < 8; ++i) {
      int first = WordsIsa::channel(i / 4, i % 4 * 4);
      char* lane = static_cast<char*>(to) + i * 16;
      if (first + 4 <= t.channels) std::memcpy(lane, source + first * 4, 16);
      else if (first < t.channels) std::memcpy(lane, source + first * 4, static_cast<size_t>(t.channels - first) * 4);
    }
  }

  // Rows [begin, end) of image n, columns from ox.
  void run_strip(Group& group, int64_t n, int64_t begin, int64_t end, int64_t ox) const {
    int choice = tile_choice(p_);
    int64_t columns = std::min<int64_t>(kStrip, p_.out[2] - ox), step = kWordsColumns[choice], stride = p_.stride[2];
    // A strip narrower than a tile, the last of several, begins earlier.
    if (columns < step) ox -= step - columns, columns = step;
    auto function = isa_.tile[(p_.kernel[2] - 3) / 2][stride - 1][choice];
    int64_t channel = group.tiles[0].channel;
    PixelRows pixels(p_, x_ + n * p_.in[1] * p_.in[2] * x_step_ + channel * isa_.element_bytes(), x_step_, padding_,
                     ox * stride - p_.pad_begin[2], (columns - 1) * stride + p_.kernel[2] + kWordsSpare);
    const void* const* rows[kWordsKernel];
    const void* const* in[kWordsKernel];
    for (int64_t oy = begin; oy < end; ++oy) {
      pixels.seek(oy * stride - p_.pad_begin[1], rows);
      char* out = y_ + ((n * p_.out[1] + oy) * p_.out[2] + ox) * y_step_ + channel * y_element_;
      for (int64_t x = 0; x < columns; x += step) {
        x = std::min(x, columns - step);  // the last tile may overlap the one before
        for (int ky = 0; ky < p_.kernel[1]; ++ky) in[ky] = rows[ky] + x * stride;
        for (int i = 0; i < group.blocks; ++i) {
          WordsTile& tile = group.tiles[i];
          tile.in = in;
          tile.in_offset = i * kWordsBlock * isa_.element_bytes();
          tile.out = out + x * y_step_ + i * kWordsBlock * y_element_;
          function(tile);
        }
      }
    }
  }

  const WordsIsa& isa_;
  const ConvProblem& p_;
  const char* x_;
  char* y_;
  const char* weights_;
  int64_t x_step_, y_element_, y_step_;  // in bytes
  TileEpilogue epilogue_;
  char* padding_;
  bool narrows_;
};

const GemmIsa& gemm_of(const WordsIsa& isa) { return isa.format == DType::bf16 ? kGemmAvx512Bf16 : kGemmAvx512Vnni; }

const char* refusal(const WordsIsa& isa, const ConvProblem& p) {
  if (p.transposed) return "a transposed convolution";
  if (const char* reason = types_refusal(gemm_of(isa), p.types, p.epilogue)) return reason;
  if (p.groups != p.in_channels || p.out_channels != p.in_channels) return "not depthwise with multiplier 1";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  int64_t width = p.kernel[2];
  if (p.kernel[0] != 1 || p.in[0] != 1 || p.out[0] != 1 || p.pad_begin[0] != 0) return "not in two dimensions";
  if ((width != 3 && width != 5 && width != 7) || p.kernel[1] > kWordsKernel)
    return "a kernel not of 3, 5 or 7 columns";
  if (p.dilation[1] != 1 || p.dilation[2] != 1) return "dilated";
  if (p.stride[1] != p.stride[2] || p.stride[2] > 2) return "a stride other than 1x1 and 2x2";
  int64_t columns = kWordsColumns[tile_choice(p)];
  if (p.out[2] < columns) return "fewer columns than a tile has";
  // The last tile may overlap the one before: its outputs are computed twice, which a residual must not be.
  if (p.epilogue.residual != Residual::none && p.out[2] % columns) return "a residual and a partial tile";
  return nullptr;
}

double seconds(const WordsIsa& isa, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  double filled = static_cast<double>(p.in_channels) / static_cast<double>(blocks(p) * kWordsBlock);
  // Measured of a core's f32 peak in cache.
  return gemm_seconds(gemm_isa(CpuLevel::avx512), flops(problem), bytes(problem), threads, 0.9 * filled);
}

void run(const WordsIsa& isa, const Problem& problem, const Args& args) {
  Words call(isa, of(problem), args);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  int64_t grain = seconds(isa, problem, 1) < kMinForkSeconds ? call.rows() : 1;
  pool.parallel_for(call.rows(), grain, [&](int64_t begin, int64_t end) { call.run(begin, end); });
}

size_t packed(const WordsIsa& isa, const Problem& problem) {
  const ConvProblem& p = of(problem);
  int64_t sums = isa.format == DType::u8 ? p.in_channels * 4 : 0;
  return static_cast<size_t>(blocks(p) * block_bytes(isa, p) + sums);
}

// [block][kernel row][word][shift][vector][16 words of taps]
template <class T>
void pack(const WordsIsa& isa, const ConvProblem& p, const T* weights, T* to) {
  int64_t height = p.kernel[1], width = p.kernel[2];
  int vectors = isa.words(width) * isa.shifts(p.stride[2]) * 2;
  for (int64_t block = 0; block < blocks(p); ++block)
    for (int64_t ky = 0; ky < height; ++ky)
      for (int i = 0; i < vectors * kPanel; ++i)
        for (int tap = 0; tap < isa.taps; ++tap) {
          int v = i / kPanel % 2, shift = i / kPanel / 2 % isa.shifts(p.stride[2]);
          int word = i / kPanel / 2 / isa.shifts(p.stride[2]);
          int64_t channel = block * kWordsBlock + isa.channel(v, i % kPanel), kx = word * isa.taps + tap - shift;
          bool inside = channel < p.in_channels && kx >= 0 && kx < width;
          *to++ = inside ? weights[(channel * height + ky) * width + kx] : T{};
        }
}

void prepack(const WordsIsa& isa, const Problem& problem, const void* from, void* packed) {
  const ConvProblem& p = of(problem);
  if (isa.format == DType::bf16)
    return pack(isa, p, static_cast<const uint16_t*>(from), static_cast<uint16_t*>(packed));
  auto* weights = static_cast<const int8_t*>(from);
  pack(isa, p, weights, static_cast<int8_t*>(packed));
  auto* sums = reinterpret_cast<int32_t*>(static_cast<char*>(packed) + blocks(p) * block_bytes(isa, p));
  int64_t taps = volume(p.kernel);
  for (int64_t c = 0; c < p.in_channels; ++c) {
    sums[c] = 0;
    for (int64_t i = 0; i < taps; ++i) sums[c] += weights[c * taps + i];
  }
}

template <const WordsIsa& kIsa>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = CpuLevel::avx512,
          .also_needs = kIsa.features,
          .in = kIsa.format,
          .out = kIsa.format,
          .packing = kIsa.format == DType::u8 ? Packing::depthwise_words_int8 : Packing::depthwise_words_bf16,
          .fits = [](const Problem& p) { return refusal(kIsa, of(p)); },
          .cost = [](const Problem& p, int threads) { return seconds(kIsa, p, threads); },
          .workspace_bytes = [](const Problem& p, int) { return workspace(of(p)); },
          .packed_bytes = [](const Problem& p) { return packed(kIsa, p); },
          .prepack = [](const Problem& p, std::span<const void* const> weights,
                        void* to) { prepack(kIsa, p, weights[0], to); },
          .run = [](const Problem& p, const Args& args) { run(kIsa, p, args); }};
}

const KernelRow kDepthwiseWords[] = {
    row<kWordsBf16>("conv_bf16_bf16_depthwise_words_avx512_bf16"),
    row<kWordsInt8>("conv_int8_int8_depthwise_words_avx512_vnni"),
};
const RegisterRows registered(kDepthwiseWords);

}  // namespace
}  // namespace trine::cpu
#endif
