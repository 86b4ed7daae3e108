// The recurrent part of one layer of LSTM, GRU or plain cells, all steps in one cooperative launch: a warp has a hidden
// unit of up to kEntries batch entries, its lanes share the products with the state; blocks meet after every step (gru
// without linear_before_reset: also after r). States are f32, those of the step before and of this one side by side.
#include <cooperative_groups.h>

#include "element.cuh"

namespace trine {

constexpr int kEntries = 4;

__device__ inline float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }
__device__ inline float clipped(float x, float limit) {
  if (limit <= 0.f) return x;
  x = x < -limit ? -limit : x;
  return x > limit ? limit : x;
}

// What one warp has: unit `u` of direction `d`, batch entries from `b` on.
struct Unit {
  int d, u, b, entries;
};

// Row `row` of R times the states at `h` of the warp's entries; every lane has the sums.
template <class T>
__device__ inline void multiplied(const RnnSizes& p, const T* row, const float* h, int entries,
                                  float (&sum)[kEntries]) {
  constexpr int N = 16 / sizeof(T);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool whole = p.hidden % N == 0 && aligned<T, N>(row);
  for (int i = 0; i < kEntries; ++i) sum[i] = 0.f;
  for (int k = lane * N; k < p.hidden; k += 32 * N) {
    const auto w = loaded<T, N>(row + k, static_cast<unsigned>(p.hidden - k), whole);
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      if (i >= entries) break;
      const float* state = h + static_cast<Wide>(i) * p.hidden + k;
      for (int e = 0; e < N; ++e)
        if (k + e < p.hidden) sum[i] = fmaf(widened(w.at[e]), __ldcg(state + e), sum[i]);
    }
  }
  for (int i = 0; i < kEntries; ++i)
    for (int d = 16; d > 0; d /= 2) sum[i] += __shfl_xor_sync(~0u, sum[i], d);
}

__device__ inline float of_lane(const float (&sum)[kEntries]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float mine = sum[0];
  for (int i = 1; i < kEntries; ++i) mine = lane == i ? sum[i] : mine;
  return mine;
}

template <class T>
__global__ void __launch_bounds__(256) rnn_layer(RnnSizes p, const float* sums, const T* weights, const float* bias,
                                                 const float* peepholes, const T* initial_h, const T* initial_c,
                                                 const int* lens, T* y, T* y_h, T* y_c, float* states, Wide* fault) {
  auto grid = cooperative_groups::this_grid();
  const int gates = p.kind == 0 ? 4 : p.kind == 1 ? 3 : 1, rows = gates * p.hidden;
  const Wide all = static_cast<Wide>(p.directions) * p.batch * p.hidden;
  float *cells = states + 2 * all, *gated = cells + all;  // gru: r h, then z
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(blockIdx.x * 8 + threadIdx.x / 32), stride = static_cast<int>(gridDim.x) * 8;
  const int groups = (p.batch + kEntries - 1) / kEntries, units = p.directions * groups * p.hidden;
  const auto unit_of = [&](int i) {
    Unit at{i / p.hidden / groups, i % p.hidden, i / p.hidden % groups * kEntries, 0};
    at.entries = p.batch - at.b < kEntries ? p.batch - at.b : kEntries;
    return at;
  };
  const auto length_of = [&](int b) {
    if (!p.lengths) return p.steps;
    const int n = lens[b], held = n < 0 ? 0 : n > p.steps ? p.steps : n;
    if (n != held && fault && atomicCAS(reinterpret_cast<unsigned long long*>(fault), 0ull, 1ull) == 0) fault[1] = n;
    return held;
  };
  const auto place_of = [&](const Unit& at) {  // of the lane's entry in a state
    return (static_cast<Wide>(at.d) * p.batch + at.b + lane) * p.hidden + at.u;
  };
  for (int i = first; i < units; i += stride) {
    const Unit at = unit_of(i);
    if (lane >= at.entries) continue;
    const Wide place = place_of(at);
    states[place] = initial_h ? widened(initial_h[place]) : 0.f;
    cells[place] = initial_c ? widened(initial_c[place]) : 0.f;
  }
  grid.sync();
  for (int step = 0; step < p.steps; ++step) {
    const float* before = states + step % 2 * all;
    float* after = states + (step + 1) % 2 * all;
    const bool two_parts = p.kind == 1 && !p.linear_before_reset;
    for (int part = two_parts ? 0 : 1; part < 2; ++part) {
      for (int i = first; i < units; i += stride) {
        const Unit at = unit_of(i);
        const float* h = before + (static_cast<Wide>(at.d) * p.batch + at.b) * p.hidden;
        const T* r = weights + (static_cast<Wide>(at.d) * rows + at.u) * p.hidden;
        const Wide gate_step = static_cast<Wide>(p.hidden) * p.hidden;
        float mine[4] = {}, sum[kEntries];
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) {
          if (gate >= gates) break;
          const bool candidate = p.kind == 1 && gate == 2;
          if (two_parts && candidate != (part == 1)) continue;
          const float* from = two_parts && candidate ? gated + (h - before) : h;
          multiplied(p, r + gate * gate_step, from, at.entries, sum);
          mine[gate] = of_lane(sum);
        }
        if (lane >= at.entries) continue;
        const Wide place = place_of(at);
        const int b = at.b + lane, length = length_of(b);
        const bool backwards = at.d == 1 || p.reverse, active = step < length;
        const int t = !active ? step : backwards ? length - 1 - step : step;
        const Wide to = (p.joined ? (static_cast<Wide>(t) * p.batch + b) * p.directions + at.d
                                  : (static_cast<Wide>(t) * p.directions + at.d) * p.batch + b) *
                            p.hidden +
                        at.u;
        const float old = __ldcg(before + place);
        if (!active) {
          if (part == 1) after[place] = old, y[to] = narrowed<T>(0.f);
          continue;
        }
        const float* x = sums + ((static_cast<Wide>(t) * p.batch + b) * p.directions + at.d) * rows + at.u;
        const float *bw = bias + static_cast<Wide>(at.d) * 2 * rows + at.u, *br = bw + rows;
        const auto total = [&](int gate) {
          return x[gate * p.hidden] + bw[gate * p.hidden] + mine[gate] + br[gate * p.hidden];
        };
        float next;
        if (p.kind == 0) {
          const float* peephole = peepholes + static_cast<Wide>(at.d) * 3 * p.hidden + at.u;
          const auto peep = [&](int gate) { return p.peephole ? peephole[gate * p.hidden] : 0.f; };
          float c = cells[place];
          const float in = sigmoid(clipped(total(0) + peep(0) * c, p.clip));
          const float forget = sigmoid(clipped(total(2) + peep(2) * c, p.clip));
          c = forget * c + in * tanhf(clipped(total(3), p.clip));
          c = c < p.cell_min ? p.cell_min : c;
          c = c > p.cell_max ? p.cell_max : c;
          cells[place] = c;
          next = sigmoid(clipped(total(1) + peep(1) * c, p.clip)) * tanhf(c);
        } else if (p.kind == 1) {
          if (two_parts && part == 0) {
            gated[place] = sigmoid(clipped(total(1), p.clip)) * old;
            gated[all + place] = sigmoid(clipped(total(0), p.clip));
            continue;
          }
          const float z = two_parts ? gated[all + place] : sigmoid(clipped(total(0), p.clip));
          const float kept = two_parts ? 1.f : sigmoid(clipped(total(1), p.clip));
          const float state = kept * (mine[2] + br[2 * p.hidden]);
          const float candidate = tanhf(clipped(x[2 * p.hidden] + bw[2 * p.hidden] + state, p.clip));
          next = (1.f - z) * candidate + z * old;
        } else {
          const float a = clipped(total(0), p.clip);
          next = p.kind == 2 ? tanhf(a) : a < 0.f ? 0.f : a;
        }
        after[place] = next;
        y[to] = narrowed<T>(next);
      }
      grid.sync();
    }
  }
  for (int i = first; i < units; i += stride) {
    const Unit at = unit_of(i);
    if (lane >= at.entries) continue;
    const Wide place = place_of(at);
    if (y_h) y_h[place] = narrowed<T>(__ldcg(states + p.steps % 2 * all + place));
    if (y_c && p.kind == 0) y_c[place] = narrowed<T>(cells[place]);
  }
}

}  // namespace trine
