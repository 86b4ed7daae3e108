#include "backends/cpu/kernels/conv_lines.h"

#include <algorithm>

#include "backends/cpu/kernels/workspace.h"

namespace trine::cpu {
namespace {

constexpr int64_t kMostWeightBytes = 256 << 10;  // read once a band
constexpr int64_t kBandBytes = 128 << 10;        // of lines of the padded image
constexpr int64_t kLeastWidth = 4;               // shorter lines make poor tiles

// Lines of the output that are computed from one copy.
int64_t band_lines(const PaddedImage& image) {
  const ConvProblem& p = image.p;
  const int64_t reach = (p.kernel[1] - 1) * p.dilation[1] + 1;
  const int64_t lines = kBandBytes / std::max<int64_t>(image.line_bytes(), 1) - reach;
  return std::clamp<int64_t>(lines / p.stride[1] + 1, 1, p.out[1]);
}

// Of the padded image, for so many of the output.
int64_t lines_for(const ConvProblem& p, int64_t lines) {
  return (lines - 1) * p.stride[1] + (p.kernel[1] - 1) * p.dilation[1] + 1;
}

size_t copy_bytes(const PaddedImage& image) {
  return image.is_input() ? 0 : image.bytes(lines_for(image.p, band_lines(image)));
}

// One thread's part.
class LineRun {
 public:
  LineRun(const LinesCall& call, void* scratch)
      : call_(call), p_(call.image.p), by_table_(p_.out[2] < call.isa.line_rows[1] || call.isa.line_rows[1] == 0) {
    Carver carver(scratch);
    copy_ = carver.take<char>(copy_bytes(call.image));
    for (auto& table : tables_) table = carver.take<const void*>(table_size(call.job));
  }
  static size_t table_size(const GemmJob& job) { return static_cast<size_t>(job.taps) * kMaxTileRows; }

  // Lines [begin, end) of the output, counted through all planes and images.
  void run(int64_t begin, int64_t end) {
    const int64_t band = band_lines(call_.image);
    for (int64_t line = begin; line < end;) {
      const int64_t count = std::min({band, end - line, p_.out[1] - line % p_.out[1]});
      run_band(line, count);
      line += count;
    }
  }

 private:
  // Where the padded image begins for lines [line, line + count) of the output.
  const char* lines_of(int64_t line, int64_t count) {
    const PaddedImage& image = call_.image;
    const int64_t plane = line / p_.out[1], n = plane / p_.out[0], z = plane % p_.out[0] * p_.stride[0];
    const int64_t first = (n * image.size[0] + z) * image.size[1] + line % p_.out[1] * p_.stride[1];
    if (image.is_input()) return static_cast<const char*>(call_.x) + first * image.line_bytes();
    image.fill(call_.x, call_.padding, first, first + lines_for(p_, count), copy_);
    return copy_;
  }

  // Panels of the next group when so many are left.
  int group(int64_t left) const {
    if (by_table_) return panels_per_group(call_.isa, p_.out[2], left);
    return static_cast<int>(std::min<int64_t>(left, 2));
  }

  void run_band(int64_t line, int64_t count) {
    const char* from = lines_of(line, count);
    const int64_t panels = call_.job.panels(), below = p_.stride[1] * call_.image.line_bytes();
    for (int64_t panel = 0; panel < panels;) {
      const int width = group(panels - panel);
      if (by_table_) fill_tables(from, call_.isa.max_rows[width]);
      for (int64_t i = 0; i < count; ++i) {
        auto* y = static_cast<char*>(call_.y) + (line + i) * p_.out[2] * call_.y_step;
        const Tile t = tile_of(panel, width);
        by_table_ ? run_by_table(t, width, i * below, y) : run_line(t, width, from + i * below, y);
      }
      panel += width;
    }
  }

  Tile tile_of(int64_t panel, int64_t width) const {
    const GemmJob& job = call_.job;
    Tile t{nullptr, nullptr};
    t.taps = job.taps;
    t.kc = job.kc;
    if (job.last_bytes < 4) --t.kc, t.last_mask = job.last_mask();
    t.column = panel * kPanel;
    t.columns = static_cast<int>(std::min<int64_t>(job.columns - t.column, width * kPanel));
    t.panel_stride = job.k() * kPanel;
    t.b = t.prefetch = job.b + panel * t.panel_stride;
    t.epilogue = &job.epilogue;
    return t;
  }

  // Tiles of one size, the last of which may overlap the one before.
  void run_line(const Tile& tile, int width, const char* from, char* y) const {
    LineTile t{tile};
    t.a_step = a_step_, t.tap_step = tap_step_;
    const int rows = call_.isa.line_rows[width];
    for (int64_t done = 0; done < p_.out[2]; done += rows) {
      const int64_t begin = std::min(done, p_.out[2] - rows);
      void* c[kMaxLineRows];
      for (int r = 0; r < rows; ++r) c[r] = y + (begin + r) * call_.y_step;
      t.skipped = static_cast<int>(done - begin);
      t.tile.c = c + t.skipped;
      t.a = from + begin * a_step_;
      call_.isa.line_tile[width](t);
    }
  }

  // Even tiles of rows_ or rows_ + 1 rows, and a table for each size.
  void fill_tables(const char* from, int most) {
    tiles_ = (p_.out[2] + most - 1) / most;
    rows_ = p_.out[2] / tiles_;
    for (int64_t size = rows_; size <= std::min<int64_t>(rows_ + 1, most); ++size)
      for (int64_t tap = 0; tap < call_.job.taps; ++tap)
        for (int64_t i = 0; i < size; ++i) tables_[size - rows_][tap * size + i] = from + tap * tap_step_ + i * a_step_;
  }

  void run_by_table(Tile t, int width, int64_t offset, char* y) const {
    for (int64_t i = 0; i < tiles_; ++i) {
      const int64_t begin = p_.out[2] * i / tiles_, rows = p_.out[2] * (i + 1) / tiles_ - begin;
      void* c[kMaxTileRows];
      for (int64_t r = 0; r < rows; ++r) c[r] = y + (begin + r) * call_.y_step;
      t.c = c;
      t.a = tables_[rows - rows_];
      t.a_offset = offset + begin * a_step_;
      call_.isa.tile_for(width, static_cast<int>(rows), t.columns)(t);
    }
  }

  const LinesCall& call_;
  const ConvProblem& p_;
  bool by_table_;
  int64_t a_step_ = p_.stride[2] * call_.image.pixel_bytes(), tap_step_ = p_.dilation[1] * call_.image.line_bytes();
  char* copy_;
  const void** tables_[2];
  int64_t tiles_ = 0, rows_ = 0;
};

size_t thread_bytes(const GemmJob& job, const PaddedImage& image) {
  Carver carver;
  carver.take<char>(copy_bytes(image));
  carver.take<const void*>(LineRun::table_size(job));
  carver.take<const void*>(LineRun::table_size(job));
  return carver.used();
}

}  // namespace

bool goes_by_lines(const GemmJob& job, const ConvProblem& p) {
  return p.kernel[0] == 1 && p.out[2] >= kLeastWidth && job.k() * job.columns * 4 <= kMostWeightBytes;
}

size_t lines_bytes(const GemmJob& job, const PaddedImage& image, int threads) {
  return static_cast<size_t>(threads) * thread_bytes(job, image);
}

void LinesCall::run(ThreadPool& pool, void* workspace) const {
  const ConvProblem& p = image.p;
  const int64_t lines = p.n * p.out[0] * p.out[1];
  const double seconds = gemm_seconds(isa, dnn::flops(p), 0, 1, 0.8);
  const int64_t parts = seconds < kMinForkSeconds ? 1 : std::min<int64_t>(lines, pool.parts_for(seconds));
  pool.run(static_cast<int>(parts), [&](int part, int thread) {
    LineRun run(*this, static_cast<char*>(workspace) + static_cast<size_t>(thread) * thread_bytes(job, image));
    run.run(lines * part / parts, lines * (part + 1) / parts);
  });
}

}  // namespace trine::cpu
