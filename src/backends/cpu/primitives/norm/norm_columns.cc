// Normalisations of nhwc images, and of the columns of a matrix. A tile is up to 256 rows (pixels) of up to 64
// channels; its column sums go to the workspace and are added over tiles in f64: neither tiles nor bits depend on
// threads.
#include "backends/cpu/primitives/norm/norm_call.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kRows = 256, kColumns = 64;

// A batch is one image of n * pixels rows: no mean belongs to a single one of its images.
struct Grid {
  int64_t images, rows, channels, blocks, column_blocks;

  explicit Grid(const NormProblem& p)
      : images(p.kind == NormKind::batch ? 1 : p.n),
        rows(p.kind == NormKind::batch ? p.n * p.pixels : p.pixels),
        channels(p.channels),
        blocks(pieces(rows, kRows)),
        column_blocks(pieces(channels, kColumns)) {}
};

class Columns {
 public:
  Columns(CpuLevel level, const Problem& problem, const Args& args, Carver& carver)
      : call_(level, problem, args, carver), p_(call_.p), grid_(p_) {
    const auto parts = static_cast<size_t>(grid_.images * grid_.blocks * grid_.channels);
    const auto all = static_cast<size_t>(grid_.images * grid_.channels);
    for (float*& part : part_) part = carver.take<float>(parts);
    for (float* Columns::* member : {&Columns::mean_, &Columns::inverse_, &Columns::mean_h_, &Columns::mean_hx_})
      this->*member = carver.take<float>(all);
  }

  void run() {
    if (grid_.channels == 0) return;
    if (!call_.forward()) return run_backward();
    p_.uses_running() ? call_.take_given() : compute_stats();
    spread();
    for_tiles([&](const NormTile& t) { call_.isa.apply(t); });
  }

 private:
  // body(tile) for every tile; its statistics are those of its columns, its sums go to its part.
  template <class Body>
  void for_tiles(Body body) {
    const int64_t per_image = grid_.blocks * grid_.column_blocks;
    deal(call_.level, call_.problem, call_.args, grid_.images * per_image, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t image = unit / per_image, block = unit / grid_.column_blocks % grid_.blocks;
        const int64_t row = block * kRows, column = unit % grid_.column_blocks * kColumns;
        NormTile t = call_.tile((image * grid_.rows + row) * grid_.channels + column);
        t.rows = std::min(kRows, grid_.rows - row), t.ld = grid_.channels;
        t.columns = std::min(kColumns, grid_.channels - column);
        t.stats_by_column = t.scale_by_column = true;
        const int64_t stats = image * grid_.channels + column;
        t.mean = mean_ + stats, t.inverse = inverse_ + stats, t.mean_h = mean_h_ + stats, t.mean_hx = mean_hx_ + stats;
        if (t.scale) t.scale += column;
        if (t.shift) t.shift += column;
        const int64_t part = (image * grid_.blocks + block) * grid_.channels + column;
        t.sum = part_[0] + part, t.sum_x = part_[1] + part;
        body(t);
      }
    });
  }

  double sum_of_blocks(int which, int64_t image, int64_t channel) const {
    double sum = 0;
    for (int64_t block = 0; block < grid_.blocks; ++block)
      sum += static_cast<double>(part_[which][(image * grid_.blocks + block) * grid_.channels + channel]);
    return sum;
  }

  int64_t set_of(int64_t image, int64_t channel) const {
    const int64_t width = p_.channels_per_set();
    return image * (grid_.channels / width) + channel / width;
  }

  // body(set, sum over the set's channels of value(image, channel))
  template <class Value, class Body>
  void for_sets(Value value, Body body) const {
    const int64_t width = p_.channels_per_set();
    for (int64_t image = 0; image < grid_.images; ++image)
      for (int64_t first = 0; first < grid_.channels; first += width) {
        double sum = 0;
        for (int64_t c = first; c < first + width; ++c) sum += value(image, c);
        body(set_of(image, first), sum, image, first);
      }
  }

  void compute_stats() {
    const auto count = static_cast<double>(call_.set_elements());
    const auto part = [&](int64_t image, int64_t c) { return sum_of_blocks(0, image, c); };
    if (p_.kind == NormKind::rms) {
      std::fill_n(call_.mean, p_.sets(), 0.f);
    } else {
      for_tiles([&](const NormTile& t) { call_.isa.column_sums(t); });
      for_sets(part,
               [&](int64_t set, double sum, int64_t, int64_t) { call_.mean[set] = static_cast<float>(sum / count); });
    }
    spread();
    for_tiles([&](const NormTile& t) { call_.isa.column_squares(t); });
    for_sets(part, [&](int64_t set, double squares, int64_t, int64_t) {
      call_.put(set, static_cast<double>(call_.mean[set]), squares);
    });
  }

  // Statistics of sets to their columns.
  void spread() {
    for (int64_t image = 0; image < grid_.images; ++image)
      for (int64_t c = 0; c < grid_.channels; ++c) {
        mean_[image * grid_.channels + c] = call_.mean[set_of(image, c)];
        inverse_[image * grid_.channels + c] = call_.inverse[set_of(image, c)];
      }
  }

  void put_means(float* to, int which, bool zero) {
    const auto count = static_cast<double>(call_.set_elements());
    const float* scale = call_.scale();
    for_sets([&](int64_t image,
                 int64_t c) { return (scale ? static_cast<double>(scale[c]) : 1) * sum_of_blocks(which, image, c); },
             [&](int64_t, double sum, int64_t image, int64_t first) {
               std::fill_n(to + image * grid_.channels + first, p_.channels_per_set(),
                           zero ? 0.f : static_cast<float>(sum / count));
             });
  }

  void run_backward() {
    call_.take_given();
    spread();
    for_tiles([&](const NormTile& t) { call_.isa.column_gradient_sums(t); });
    for (int64_t c = 0; c < grid_.channels; ++c) {
      double sum = 0, sum_x = 0;
      for (int64_t image = 0; image < grid_.images; ++image)
        sum += sum_of_blocks(0, image, c), sum_x += sum_of_blocks(1, image, c);
      call_.put_gradient(c, sum, sum_x);
    }
    put_means(mean_h_, 0, p_.uses_running() || p_.kind == NormKind::rms);
    put_means(mean_hx_, 1, p_.uses_running());
    for_tiles([&](const NormTile& t) { call_.isa.apply_gradient(t); });
  }

  NormCall call_;
  const NormProblem& p_;
  Grid grid_;
  float* part_[2];                               // [image][block][channel]
  float *mean_, *inverse_, *mean_h_, *mean_hx_;  // [image][channel]
};

size_t workspace(const Problem& problem, int) {
  Carver carver;
  const Args none;
  Columns columns(CpuLevel::baseline, problem, none, carver);
  return carver.used();
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  Carver carver(args.workspace);
  Columns(level, problem, args, carver).run();
}

const KernelRow kRowsOfNorms[] = {
#if defined(__x86_64__)
    norm_row<CpuLevel::avx512, run, workspace, false>("norm_f32_columns_avx512"),
    norm_row<CpuLevel::avx2, run, workspace, false>("norm_f32_columns_avx2"),
#endif
    norm_row<CpuLevel::baseline, run, workspace, false>("norm_f32_columns_baseline"),
};
const RegisterRows registered(kRowsOfNorms);

}  // namespace
}  // namespace trine::cpu
