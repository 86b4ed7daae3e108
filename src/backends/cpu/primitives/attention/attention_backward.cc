// Gradients of attention by tiles of queries x keys, whose weights are made again from the saved log-sum-exp (flash
// attention: Dao et al. 2022):
//
//   P = exp(scores - lse)   dP = dropped(dO V^T)   dS = P (dP - rowsum(dO O))
//   dV += dropped(P)^T dO   dQ += scale (dS cap') K   dK += scale (dS cap')^T Q
//
// A unit of work is a head of keys of one batch entry, with all query heads that read it: all that adds to its dq, dk
// and dv. The gradient of a mask that broadcasts adds over units, so it is made by a second walk, divided along the
// mask instead.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/attention/scores.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/workspace.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kQueries = 64, kKeys = 128;  // of a tile

const AttentionProblem& of(const Problem& problem) { return std::get<AttentionProblem>(problem); }

// Of one thread.
struct Scratch {
  float *keys_t, *values_t, *keys;  // panels of a block of keys: [dim x keys], [v dim x keys], [keys x dim]
  float *queries, *dout;            // panels of a block of queries: [queries x dim], [queries x v dim]
  float *p, *ds, *turned, *slope;   // [queries][kKeys] twice, [keys][kQueries], [kKeys]
  char* tables;

  Scratch(const GemmIsa& isa, const AttentionProblem& a, Carver& carver) {
    const auto floats = [&](int64_t n) { return carver.take<float>(static_cast<size_t>(n)); };
    keys_t = floats(panels_floats(a.head_dim, kKeys));
    values_t = floats(panels_floats(a.v_head_dim, kKeys));
    keys = floats(panels_floats(kKeys, a.head_dim));
    queries = floats(panels_floats(kQueries, a.head_dim));
    dout = floats(panels_floats(kQueries, a.v_head_dim));
    p = floats(kQueries * kKeys);
    ds = floats(kQueries * kKeys);
    turned = floats(kKeys * kQueries);
    slope = floats(kKeys);
    tables = carver.take<char>(Product::table_bytes(isa, kKeys));
  }
};

struct Block {
  int64_t first, count;
};
Block block_of(int64_t index, int64_t size, int64_t whole) {
  return {index * size, std::min(size, whole - index * size)};
}
int64_t blocks_of(int64_t whole, int64_t size) { return (whole + size - 1) / size; }

class Backward {
 public:
  Backward(CpuLevel level, const AttentionProblem& p, const Args& args, void* workspace)
      : isa_(attention_isa(level)),
        p_(p),
        args_(args),
        scores_(p, args, level),
        carver_(workspace),
        s_(gemm_isa(level), p, carver_),
        product_(gemm_isa(level), nullptr, s_.tables) {}

  // dq, dk and dv of one head of keys.
  void run_head(int64_t batch, int64_t kv_head) {
    const int64_t group = p_.heads / p_.kv_heads;
    clear(0, p_.q_stride, batch, kv_head * group, group, p_.q_len, p_.head_dim);
    clear(1, p_.k_stride, batch, kv_head, 1, p_.kv_len, p_.head_dim);
    clear(2, p_.v_stride, batch, kv_head, 1, p_.kv_len, p_.v_head_dim);
    const int64_t q_len = scores_.queries(batch), kv_len = scores_.keys(batch);  // past them NaN may stand
    for (int64_t j = 0; j < blocks_of(kv_len, kKeys); ++j) {
      const Block keys = block_of(j, kKeys, kv_len);
      pack_keys(batch, kv_head, keys, true);
      for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
        for (int64_t i = 0; i < blocks_of(q_len, kQueries); ++i)
          add_tile(batch, head, kv_head, block_of(i, kQueries, q_len), keys);
    }
  }

  // dmask of blocks of queries [q_begin, q_end) against blocks of keys [k_begin, k_end).
  void run_mask(int64_t q_begin, int64_t q_end, int64_t k_begin, int64_t k_end) {
    for (bool adds : {false, true})
      for (int64_t batch = 0; batch < p_.batch; ++batch)
        for (int64_t head = 0; head < p_.heads; ++head)
          for (int64_t j = k_begin; j < k_end; ++j) {
            const Block keys = block_of(j, kKeys, p_.kv_len);
            if (adds) pack_keys(batch, head / (p_.heads / p_.kv_heads), keys, false);
            for (int64_t i = q_begin; i < q_end; ++i)
              mask_tile(batch, head, block_of(i, kQueries, p_.q_len), keys, adds);
          }
  }

 private:
  using Strides = std::array<int64_t, 3>;

  template <class T>
  T* rows(T* data, const Strides& stride, int64_t batch, int64_t head, int64_t first) const {
    return data + batch * stride[0] + head * stride[1] + first * stride[2];
  }
  const float* in(int operand, const Strides& stride, int64_t batch, int64_t head, int64_t first) const {
    return rows(static_cast<const float*>(args_.in[operand]), stride, batch, head, first);
  }
  float* out(int operand, const Strides& stride, int64_t batch, int64_t head, int64_t first) const {
    return rows(static_cast<float*>(args_.out[operand]), stride, batch, head, first);
  }

  void clear(int operand, const Strides& stride, int64_t batch, int64_t head, int64_t heads, int64_t positions,
             int64_t dim) {
    for (int64_t h = head; h < head + heads; ++h)
      for (int64_t i = 0; i < positions; ++i) std::fill_n(out(operand, stride, batch, h, i), dim, 0.f);
  }

  void pack_keys(int64_t batch, int64_t kv_head, Block keys, bool for_queries) {
    const float* k = in(1, p_.k_stride, batch, kv_head, keys.first);
    const float* v = in(2, p_.v_stride, batch, kv_head, keys.first);
    pack_panels(product_.isa(), k, p_.k_stride[2], true, p_.head_dim, keys.count, s_.keys_t);
    pack_panels(product_.isa(), v, p_.v_stride[2], true, p_.v_head_dim, keys.count, s_.values_t);
    if (for_queries) pack_panels(product_.isa(), k, p_.k_stride[2], false, keys.count, p_.head_dim, s_.keys);
  }

  bool is_hidden(int64_t batch, Block queries, Block keys) const {
    for (int64_t i = 0; i < queries.count; ++i) {
      const Scores::Range seen = scores_.seen(batch, queries.first + i);
      if (std::max(seen.begin, keys.first) < std::min(seen.end, keys.first + keys.count)) return false;
    }
    return true;
  }

  // dropped(P) into s_.p; into s_.ds dS, with `of_products` times cap' and scale.
  void make_tile(int64_t batch, int64_t head, Block queries, Block keys, bool of_products) {
    const float* q = in(0, p_.q_stride, batch, head, queries.first);
    const float* dout = in(9, p_.out_stride, batch, head, queries.first);
    product_({q, p_.q_stride[2]}, queries.count, p_.head_dim, s_.keys_t, keys.count, {s_.p, kKeys, false, p_.scale});
    product_({dout, p_.out_stride[2]}, queries.count, p_.v_head_dim, s_.values_t, keys.count, {s_.ds, kKeys});
    for (int64_t i = 0; i < queries.count; ++i) make_row(batch, head, queries.first + i, i, keys, of_products);
  }

  void make_row(int64_t batch, int64_t head, int64_t query, int64_t i, Block keys, bool of_products) {
    float *p = s_.p + i * kKeys, *ds = s_.ds + i * kKeys;
    const Scores::Range seen = scores_.seen(batch, query);
    const float lse = static_cast<const float*>(args_.in[10])[(batch * p_.heads + head) * p_.q_len + query];
    int64_t begin = std::clamp<int64_t>(seen.begin - keys.first, 0, keys.count);
    int64_t end = std::clamp<int64_t>(seen.end - keys.first, 0, keys.count);
    if (begin > end || lse == -INFINITY) begin = end = 0;
    for (float* row : {p, ds}) {
      std::fill(row, row + begin, 0.f);
      std::fill(row + end, row + keys.count, 0.f);
    }
    if (begin == end) return;
    const int64_t n = end - begin;
    p += begin, ds += begin;
    scores_.cap(p, n);
    for (int64_t j = 0; j < n; ++j) {
      const float part = p_.softcap > 0 ? p[j] / p_.softcap : 0;
      s_.slope[j] = of_products ? p_.scale * (1 - part * part) : 1;
    }
    scores_.add_bias(batch, head, query, keys.first + begin, n, p);
    isa_.exp_row(p, n, lse);
    const float delta = out_dot_dout(batch, head, query);
    const auto finish = [&](int64_t j, float factor) {
      ds[j] = p[j] * (factor * ds[j] - delta) * s_.slope[j];
      p[j] *= factor;
    };
    if (scores_.drops()) return scores_.for_dropout(batch, head, query, keys.first + begin, n, finish);
    for (int64_t j = 0; j < n; ++j) finish(j, 1);
  }

  float out_dot_dout(int64_t batch, int64_t head, int64_t query) const {
    const float *o = in(8, p_.out_stride, batch, head, query), *dout = in(9, p_.out_stride, batch, head, query);
    double sum = 0;
    for (int64_t d = 0; d < p_.v_head_dim; ++d) sum += static_cast<double>(o[d]) * dout[d];
    return static_cast<float>(sum);
  }

  void add_tile(int64_t batch, int64_t head, int64_t kv_head, Block queries, Block keys) {
    if (is_hidden(batch, queries, keys)) return;
    make_tile(batch, head, queries, keys, true);
    const float* q = in(0, p_.q_stride, batch, head, queries.first);
    const float* dout = in(9, p_.out_stride, batch, head, queries.first);
    pack_panels(product_.isa(), q, p_.q_stride[2], false, queries.count, p_.head_dim, s_.queries);
    pack_panels(product_.isa(), dout, p_.out_stride[2], false, queries.count, p_.v_head_dim, s_.dout);
    add_turned(s_.p, queries, keys, s_.dout, p_.v_head_dim, out(2, p_.v_stride, batch, kv_head, keys.first),
               p_.v_stride[2]);
    add_turned(s_.ds, queries, keys, s_.queries, p_.head_dim, out(1, p_.k_stride, batch, kv_head, keys.first),
               p_.k_stride[2]);
    product_({s_.ds, kKeys}, queries.count, keys.count, s_.keys, p_.head_dim,
             {out(0, p_.q_stride, batch, head, queries.first), p_.q_stride[2], true});
  }

  // to += tile^T panels
  void add_turned(const float* tile, Block queries, Block keys, const float* panels, int64_t columns, float* to,
                  int64_t stride) {
    product_.isa().transpose(tile, kKeys, s_.turned, kQueries, queries.count, keys.count);
    product_({s_.turned, kQueries}, keys.count, queries.count, panels, columns, {to, stride, true});
  }

  void mask_tile(int64_t batch, int64_t head, Block queries, Block keys, bool adds) {
    if (adds && is_hidden(batch, queries, keys)) return;
    if (adds) make_tile(batch, head, queries, keys, false);
    const auto& stride = p_.mask_stride;
    float* to = static_cast<float*>(args_.out[3]) + batch * stride[0] + head * stride[1];
    for (int64_t i = 0; i < queries.count; ++i)
      for (int64_t j = 0; j < keys.count; ++j) {
        float& sum = to[(queries.first + i) * stride[2] + (keys.first + j) * stride[3]];
        sum = adds ? sum + s_.ds[i * kKeys + j] : 0;
      }
  }

  const AttentionIsa& isa_;
  const AttentionProblem& p_;
  const Args& args_;
  Scores scores_;
  Carver carver_;
  Scratch s_;
  Product product_;
};

const char* fits(const Problem& problem) { return refusal(of(problem), Pass::backward); }

double seconds(const Problem& problem, CpuLevel level, int threads) {
  return gemm_seconds(gemm_isa(level), flops(problem), bytes(problem), threads, 0.5);
}

size_t workspace(CpuLevel level, const Problem& problem, int threads) {
  Carver carver;
  Scratch(gemm_isa(level), of(problem), carver);
  return carver.used() * static_cast<size_t>(threads);
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  const AttentionProblem& p = of(problem);
  check_lengths(p, args);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  const size_t each = workspace(level, problem, 1);
  const auto of_thread = [&](int thread) {
    return static_cast<char*>(args.workspace) + static_cast<size_t>(thread) * each;
  };
  pool.run(static_cast<int>(p.batch * p.kv_heads), [&](int unit, int thread) {
    Backward(level, p, args, of_thread(thread)).run_head(unit / p.kv_heads, unit % p.kv_heads);
  });
  if (!args.out[3] || p.mask != MaskKind::additive) return;
  const int64_t q = blocks_of(p.q_len, kQueries), k = blocks_of(p.kv_len, kKeys);
  const bool by_queries = p.mask_stride[2] != 0, by_keys = !by_queries && p.mask_stride[3] != 0;
  pool.run(static_cast<int>(by_queries ? q
                            : by_keys  ? k
                                       : 1),
           [&](int unit, int thread) {
             Backward(level, p, args, of_thread(thread))
                 .run_mask(by_queries ? unit : 0, by_queries ? unit + 1 : q, by_keys ? unit : 0,
                           by_keys ? unit + 1 : k);
           });
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::attention,
          .needs = kLevel,
          .fits = fits,
          .cost = [](const Problem& p, int threads) { return seconds(p, kLevel, threads); },
          .workspace_bytes = [](const Problem& p, int threads) { return workspace(kLevel, p, threads); },
          .run = [](const Problem& p, const Args& args) { run(kLevel, p, args); }};
}

const KernelRow kAttentionBackward[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("attention_backward_f32_f32_flash_avx512"),
    row<CpuLevel::avx2>("attention_backward_f32_f32_flash_avx2"),
#endif
    row<CpuLevel::baseline>("attention_backward_f32_f32_flash_baseline"),
};
const RegisterRows registered(kAttentionBackward);

}  // namespace
}  // namespace trine::cpu
