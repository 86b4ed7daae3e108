// Fused attention. Keys and values of a head are packed once; then for a few queries at a time and a block of keys:
//
//   S = scale * Q K^T          microkernel into L1/L2 scratch
//   m' = max(m, row max S)     P = exp(S - m'),  l = l * exp(m - m') + row sum P
//   O = O * exp(m - m') + P V  microkernel, continuing the sums in O
//
// and out = O / l at the end (flash attention: Dao et al. 2022; the running maximum: Milakov & Gimelshein 2018).
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/attention/scores.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kKeyBlock = 512;
constexpr int64_t kRowPad = 16;  // floats after a scratch row, so that rows do not fall into one L1 set
constexpr float kMinusInfinity = -INFINITY;

int64_t round_up(int64_t n) { return (n + kPanel - 1) / kPanel * kPanel; }

// Scratch of one thread.
struct Scratch {
  float *keys, *values;  // panels of a head
  float *q, *s, *o;      // of a block of queries
  int64_t q_stride, s_stride, o_stride;

  Scratch(const AttentionProblem& p, Carver& carver) {
    q_stride = p.head_dim + kRowPad;
    s_stride = std::min(round_up(p.kv_len), kKeyBlock) + kRowPad;
    o_stride = round_up(p.v_head_dim) + kRowPad;
    keys = carver.take<float>(static_cast<size_t>(panels_floats(p.head_dim, p.kv_len)));
    values = carver.take<float>(static_cast<size_t>(panels_floats(p.kv_len, p.v_head_dim)));
    q = carver.take<float>(static_cast<size_t>(kMaxTileRows * q_stride));
    s = carver.take<float>(static_cast<size_t>(kMaxTileRows * s_stride));
    o = carver.take<float>(static_cast<size_t>(kMaxTileRows * o_stride));
  }
};

class Attention {
 public:
  Attention(CpuLevel level, const AttentionProblem& p, const Args& args, Carver& carver)
      : gemm_(gemm_isa(level)),
        isa_(attention_isa(level)),
        scores_(p, args, level),
        p_(p),
        args_(args),
        scratch_(p, carver) {
    panels_ = gemm_.max_rows[2] >= gemm_.max_rows[1] ? 2 : 1;
    most_rows_ = gemm_.max_rows[panels_];
  }

  // Units of work are (batch, head, block of queries), in this order.
  int64_t query_blocks() const { return (p_.q_len + most_rows_ - 1) / most_rows_; }
  int64_t units() const { return p_.batch * p_.heads * query_blocks(); }

  void run(int64_t begin, int64_t end) {
    int64_t packed = -1;
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t block = unit % query_blocks(), head = unit / query_blocks() % p_.heads;
      int64_t batch = unit / query_blocks() / p_.heads, kv_head = head / (p_.heads / p_.kv_heads);
      if (int64_t source = batch * p_.kv_heads + kv_head; source != packed) {
        pack(batch, kv_head);
        packed = source;
      }
      int64_t first = p_.q_len * block / query_blocks(), last = p_.q_len * (block + 1) / query_blocks();
      run_block(batch, head, first, static_cast<int>(last - first));
    }
  }

 private:
  void pack(int64_t batch, int64_t head) {
    auto k = static_cast<const float*>(args_.in[1]) + batch * p_.k_stride[0] + head * p_.k_stride[1];
    auto v = static_cast<const float*>(args_.in[2]) + batch * p_.v_stride[0] + head * p_.v_stride[1];
    pack_panels(gemm_, k, p_.k_stride[2], true, p_.head_dim, p_.kv_len, scratch_.keys);
    pack_panels(gemm_, v, p_.v_stride[2], false, p_.kv_len, p_.v_head_dim, scratch_.values);
  }

  void run_block(int64_t batch, int64_t head, int64_t first, int rows) {
    auto q = static_cast<const float*>(args_.in[0]) + batch * p_.q_stride[0] + head * p_.q_stride[1];
    for (int i = 0; i < rows; ++i) {
      std::copy_n(q + (first + i) * p_.q_stride[2], p_.head_dim, scratch_.q + i * scratch_.q_stride);
      max_[i] = kMinusInfinity;
      sum_[i] = 0;
    }
    std::fill_n(scratch_.o, rows * scratch_.o_stride, 0.f);
    const Scores::Range seen = seen_by(batch, first, rows);
    for (int64_t key = seen.begin; key < seen.end; key += kKeyBlock) {
      int64_t count = std::min(kKeyBlock, seen.end - key);
      multiply_keys(rows, key, count);
      for (int i = 0; i < rows; ++i) soften_row(batch, head, first + i, i, key, count);
      multiply_values(rows, key, count);
    }
    if (args_.out[1]) write_log_sums((batch * p_.heads + head) * p_.q_len + first, rows);
    auto out = static_cast<float*>(args_.out[0]) + batch * p_.out_stride[0] + head * p_.out_stride[1];
    for (int i = 0; i < rows; ++i)
      isa_.scale_row(scratch_.o + i * scratch_.o_stride, p_.v_head_dim, sum_[i] == 0 ? 0 : 1 / sum_[i],
                     out + (first + i) * p_.out_stride[2]);
  }

  // Keys that any of the rows sees, from the beginning of a panel.
  Scores::Range seen_by(int64_t batch, int64_t first, int rows) const {
    Scores::Range all = scores_.seen(batch, first);
    for (int i = 1; i < rows; ++i) all.end = std::max(all.end, scores_.seen(batch, first + i).end);
    return {all.begin / kPanel * kPanel, all.end};
  }

  void write_log_sums(int64_t at, int rows) const {
    for (int i = 0; i < rows; ++i)
      static_cast<float*>(args_.out[1])[at + i] = sum_[i] == 0 ? kMinusInfinity : max_[i] + std::log(sum_[i]);
  }

  // Runs the tiles of `columns` columns from `column`.
  void multiply(Tile t, int rows, int64_t columns, const float* b) {
    for (int64_t column = 0; column < columns; column += t.columns) {
      int panels = static_cast<int>(std::min<int64_t>(panels_, (columns - column) / kPanel));
      t.column = column;
      t.columns = panels * kPanel;
      t.b = b + column / kPanel * t.panel_stride;
      t.prefetch = t.b;
      gemm_.tile[panels][rows](t);
    }
  }

  void multiply_keys(int rows, int64_t key, int64_t count) {
    const void* a[kMaxTileRows];
    void* c[kMaxTileRows];
    for (int i = 0; i < rows; ++i) a[i] = scratch_.q + i * scratch_.q_stride, c[i] = scratch_.s + i * scratch_.s_stride;
    TileEpilogue epilogue;
    epilogue.scale = p_.scale;
    Tile t{a, c};
    t.kc = p_.head_dim;
    t.panel_stride = p_.head_dim * kPanel;
    t.epilogue = &epilogue;
    multiply(t, rows, round_up(count), scratch_.keys + key / kPanel * t.panel_stride);
  }

  void multiply_values(int rows, int64_t key, int64_t count) {
    const void* a[kMaxTileRows];
    void* c[kMaxTileRows];
    for (int i = 0; i < rows; ++i) a[i] = scratch_.s + i * scratch_.s_stride, c[i] = scratch_.o + i * scratch_.o_stride;
    TileEpilogue epilogue;
    Tile t{a, c};
    t.kc = count;
    t.panel_stride = p_.kv_len * kPanel;
    t.add_to_c = true;
    t.epilogue = &epilogue;
    multiply(t, rows, round_up(p_.v_head_dim), scratch_.values + key * kPanel);
  }

  // Scores of row i against keys [key, key + count) become weights; what the query may not see becomes 0.
  void soften_row(int64_t batch, int64_t head, int64_t query, int i, int64_t key, int64_t count) {
    float* row = scratch_.s + i * scratch_.s_stride;
    const Scores::Range seen = scores_.seen(batch, query);
    const int64_t begin = std::clamp<int64_t>(seen.begin - key, 0, count),
                  end = std::clamp<int64_t>(seen.end - key, 0, count);
    std::fill(row, row + std::min(begin, end), 0.f);
    std::fill(row + end, row + count, 0.f);
    if (begin >= end) return;
    float* s = row + begin;
    const int64_t n = end - begin;
    scores_.cap(s, n);
    scores_.add_bias(batch, head, query, key + begin, n, s);
    float most = std::max(max_[i], isa_.row_max(s, n));
    float base = most == kMinusInfinity ? 0 : most;  // nothing seen so far: exp gives zeros, not NaN
    float sum = isa_.exp_row(s, n, base);
    if (most != max_[i]) {
      float shrink = std::exp(max_[i] - base);
      sum_[i] *= shrink;
      float* o = scratch_.o + i * scratch_.o_stride;
      if (max_[i] != kMinusInfinity) isa_.scale_row(o, p_.v_head_dim, shrink, o);
      max_[i] = most;
    }
    sum_[i] += sum;
    if (scores_.drops())
      scores_.for_dropout(batch, head, query, key + begin, n, [&](int64_t j, float factor) { s[j] *= factor; });
  }

  const GemmIsa& gemm_;
  const AttentionIsa& isa_;
  Scores scores_;
  const AttentionProblem& p_;
  const Args& args_;
  Scratch scratch_;
  int panels_, most_rows_;
  float max_[kMaxTileRows], sum_[kMaxTileRows];
};

const AttentionProblem& of(const Problem& problem) { return std::get<AttentionProblem>(problem); }

const char* fits(const Problem& problem) { return refusal(of(problem), Pass::forward); }

double seconds(const Problem& problem, CpuLevel level, int threads) {
  return gemm_seconds(gemm_isa(level), flops(problem), bytes(problem), threads, 0.7);
}

size_t workspace(const Problem& problem, int threads) {
  Carver carver;
  for (int i = 0; i < threads; ++i) Scratch(of(problem), carver);
  return carver.used();
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  const AttentionProblem& p = of(problem);
  check_lengths(p, args);
  Carver sizes;
  Scratch(p, sizes);
  Carver whole(args.workspace);
  int64_t units = Attention(level, p, args, whole).units();
  double alone = seconds(problem, level, 1);
  int64_t parts = alone < kMinForkSeconds ? 1 : std::min<int64_t>(units, pool.parts_for(alone));
  pool.run(static_cast<int>(parts), [&](int part, int thread) {
    Carver own(static_cast<char*>(args.workspace) + static_cast<size_t>(thread) * sizes.used());
    Attention(level, p, args, own).run(units * part / parts, units * (part + 1) / parts);
  });
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::attention,
          .needs = kLevel,
          .fits = fits,
          .cost = [](const Problem& p, int threads) { return seconds(p, kLevel, threads); },
          .workspace_bytes = workspace,
          .run = [](const Problem& p, const Args& args) { run(kLevel, p, args); }};
}

const KernelRow kAttention[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("attention_f32_f32_flash_avx512"),
    row<CpuLevel::avx2>("attention_f32_f32_flash_avx2"),
#endif
    row<CpuLevel::baseline>("attention_f32_f32_flash_baseline"),
};
const RegisterRows registered(kAttention);

}  // namespace
}  // namespace trine::cpu
