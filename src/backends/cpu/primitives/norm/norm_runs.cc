// Normalisations whose sets are contiguous runs: nchw images, rows of a matrix. A piece of work is a set.
//
// Gradients of scale and shift: of images from the sums of each channel of each image; of rows, whose channels are
// single elements, column by column in a second pass.
#include "backends/cpu/primitives/norm/norm_call.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kRows = 256, kColumns = 64;  // of a tile of the second pass

struct Runs {
  int64_t first, count, step, length;
};
Runs runs_of(const NormProblem& p, int64_t set) {
  if (p.kind == NormKind::batch) return {set * p.pixels, p.n, p.channels * p.pixels, p.pixels};
  const int64_t length = p.channels_per_set() * p.pixels;
  return {set * length, 1, 0, length};
}

// Tiles of one set: a channel of an image each, or the whole of a row.
template <class Body>
void for_tiles(const NormCall& call, int64_t set, Body body) {
  const NormProblem& p = call.p;
  const Runs runs = runs_of(p, set);
  const int64_t length = p.pixels == 1 ? runs.length : p.pixels;
  for (int64_t at = runs.first, run = 0; run < runs.count; ++run, at += runs.step)
    for (int64_t i = at; i < at + runs.length; i += length) {
      NormTile t = call.tile(i);
      const int64_t channel = i / p.pixels % p.channels;
      t.columns = length, t.mean = call.mean + set, t.inverse = call.inverse + set;
      t.scale_by_column = p.pixels == 1;
      if (t.scale) t.scale += channel;
      if (t.shift) t.shift += channel;
      body(t, i / p.pixels);
    }
}

void compute_stats(const NormCall& call, int64_t set) {
  const NormProblem& p = call.p;
  const Runs runs = runs_of(p, set);
  double sum = 0, squares = 0;
  for (int64_t run = 0; run < runs.count && p.kind != NormKind::rms; ++run)
    sum += call.isa.sum(call.in(0) + runs.first + run * runs.step, runs.length);
  const double mean = sum / static_cast<double>(call.set_elements());
  for (int64_t run = 0; run < runs.count; ++run)
    squares += call.isa.squares(call.in(0) + runs.first + run * runs.step, static_cast<float>(mean), runs.length);
  call.put(set, mean, squares);
}

void run_forward(const NormCall& call) {
  const bool given = call.p.uses_running();
  if (given) call.take_given();
  deal(call.level, call.problem, call.args, call.p.sets(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      if (!given) compute_stats(call, set);
      for_tiles(call, set, [&](const NormTile& t, int64_t) { call.isa.apply(t); });
    }
  });
}

// [n][channels]: sums of dy and of dy * xhat of each channel of each image.
struct ChannelSums {
  double *sum, *sum_x;
  ChannelSums(const NormProblem& p, Carver& carver) {
    const auto count = static_cast<size_t>(p.pixels == 1 ? 0 : p.n * p.channels);
    sum = carver.take<double>(count);
    sum_x = carver.take<double>(count);
  }
};

void run_set_gradient(const NormCall& call, const ChannelSums& channels, int64_t set) {
  const NormProblem& p = call.p;
  double h = 0, hx = 0;
  for_tiles(call, set, [&](NormTile t, int64_t channel) {
    const double scale = t.scale && p.pixels > 1 ? static_cast<double>(*t.scale) : 1;
    double sums[2];
    if (p.pixels > 1) t.scale = nullptr;
    call.isa.gradient_sums(t, sums);
    if (p.pixels > 1) channels.sum[channel] = sums[0], channels.sum_x[channel] = sums[1];
    h += scale * sums[0], hx += scale * sums[1];
  });
  const auto count = static_cast<double>(call.set_elements());
  const bool constant = p.uses_running();  // statistics do not depend on x
  const float mean_h = constant || p.kind == NormKind::rms ? 0 : static_cast<float>(h / count);
  const float mean_hx = constant ? 0 : static_cast<float>(hx / count);
  for_tiles(call, set, [&](NormTile t, int64_t) {
    t.mean_h = &mean_h, t.mean_hx = &mean_hx;
    call.isa.apply_gradient(t);
  });
}

// Of rows: channels [first, first + columns), which lie in one group.
void sum_columns(const NormCall& call, int64_t first, int64_t columns) {
  const NormProblem& p = call.p;
  const int64_t sets_per_row = p.channels / p.channels_per_set();
  double sum[kColumns] = {}, sum_x[kColumns] = {};
  float part[kColumns], part_x[kColumns];
  for (int64_t row = 0; row < p.n; row += kRows) {
    NormTile t = call.tile(row * p.channels + first);
    t.rows = std::min(kRows, p.n - row), t.ld = p.channels, t.columns = columns;
    t.stats_step = sets_per_row;
    t.mean = call.mean + row * sets_per_row + first / p.channels_per_set();
    t.inverse = call.inverse + row * sets_per_row + first / p.channels_per_set();
    t.sum = part, t.sum_x = part_x;
    call.isa.column_gradient_sums(t);
    for (int64_t c = 0; c < columns; ++c)
      sum[c] += static_cast<double>(part[c]), sum_x[c] += static_cast<double>(part_x[c]);
  }
  for (int64_t c = 0; c < columns; ++c) call.put_gradient(first + c, sum[c], sum_x[c]);
}

void run_backward(const NormCall& call, const ChannelSums& channels) {
  const NormProblem& p = call.p;
  call.take_given();
  deal(call.level, call.problem, call.args, p.sets(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) run_set_gradient(call, channels, set);
  });
  if (p.pixels == 1) {
    const int64_t width = p.channels_per_set(), blocks = pieces(width, kColumns);
    deal(call.level, call.problem, call.args, p.channels / width * blocks, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t inside = unit % blocks * kColumns;
        sum_columns(call, unit / blocks * width + inside, std::min(kColumns, width - inside));
      }
    });
    return;
  }
  for (int64_t c = 0; c < p.channels; ++c) {
    double sum = 0, sum_x = 0;
    for (int64_t n = 0; n < p.n; ++n)
      sum += channels.sum[n * p.channels + c], sum_x += channels.sum_x[n * p.channels + c];
    call.put_gradient(c, sum, sum_x);
  }
}

size_t workspace(const Problem& problem, int) {
  const auto& p = std::get<NormProblem>(problem);
  Carver carver;
  const Args none;
  NormCall call(CpuLevel::baseline, problem, none, carver);
  if (p.pass == Pass::backward) ChannelSums sums(p, carver);
  return carver.used();
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  Carver carver(args.workspace);
  const NormCall call(level, problem, args, carver);
  if (call.p.channels == 0) return;
  if (call.forward()) return run_forward(call);
  run_backward(call, ChannelSums(call.p, carver));
}

const KernelRow kRowsOfNorms[] = {
#if defined(__x86_64__)
    norm_row<CpuLevel::avx512, run, workspace, true>("norm_f32_runs_avx512"),
    norm_row<CpuLevel::avx2, run, workspace, true>("norm_f32_runs_avx2"),
#endif
    norm_row<CpuLevel::baseline, run, workspace, true>("norm_f32_runs_baseline"),
};
const RegisterRows registered(kRowsOfNorms);

}  // namespace
}  // namespace trine::cpu
