// Random numbers on the device, by cuRAND's names: Philox 4x32-10, a counter encrypted with a key.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011. A seed is the key; a
// subsequence is the upper half of the counter; each value of the counter gives four numbers of 32 bits, in order.
// Integers and uniform numbers are those of cuRAND's generator of the same name, normal ones nearly: it takes faster
// sines. `curandState`, which there is XORWOW, is Philox too.
#pragma once

#include "host_defines.h"
#include "vector_functions.h"

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;  // how many numbers of `output` are used
  int boxmuller_flag;  // which number of a pair is kept: 1 a normal one, 2 a log-normal one
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStatePhilox4_32_10_t curandState;
typedef curandStatePhilox4_32_10_t curandState_t;

namespace trine_random {

__TRINE_DEVICE__ uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * counter.x, b = 0xCD9E8D57ull * counter.z;
    counter = make_uint4((unsigned)(b >> 32) ^ counter.y ^ key.x, (unsigned)b, (unsigned)(a >> 32) ^ counter.w ^ key.y,
                         (unsigned)a);
    key.x += 0x9E3779B9u;  // of the golden ratio
    key.y += 0xBB67AE85u;  // of the square root of 3
  }
  return counter;
}

// Adds to a number of 64 bits in two words; returns the carry.
__TRINE_DEVICE__ unsigned add(unsigned& low, unsigned& high, unsigned long long n) {
  const unsigned long long before = (unsigned long long)high << 32 | low, after = before + n;
  low = (unsigned)after;
  high = (unsigned)(after >> 32);
  return after < before;
}

__TRINE_DEVICE__ void advance(curandStatePhilox4_32_10_t* state, unsigned long long counts) {
  if (add(state->ctr.x, state->ctr.y, counts)) add(state->ctr.z, state->ctr.w, 1);
  state->output = philox(state->ctr, state->key);
}

constexpr float kStep = 2.3283064e-10f;  // 2^-32, a little more: uniform numbers lie in (0, 1]
constexpr float kAngle = 2.3283064e-10f * 6.2831855f;

__TRINE_DEVICE__ float uniform(unsigned x) { return x * kStep + kStep / 2; }
__TRINE_DEVICE__ double uniform_double(unsigned x) { return x * 0x1p-32 + 0x1p-32; }
__TRINE_DEVICE__ double uniform_double(unsigned x, unsigned y) {
  return ((unsigned long long)x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}

// Two normal numbers of two uniform ones. Source: Box and Muller 1958.
__TRINE_DEVICE__ float2 normal_pair(unsigned x, unsigned y) {
  float2 pair;
  const float radius = sqrtf(-2.0f * logf(uniform(x)));
  sincosf(y * kAngle + kAngle / 2, &pair.x, &pair.y);
  return make_float2(pair.x * radius, pair.y * radius);
}
template <class Real>
__TRINE_DEVICE__ double2 normal_pair_double(uint4 x) {
  const Real u = uniform_double(x.x, x.y), v = uniform_double(x.z, x.w) * 2;
  double2 pair;
  const Real radius = sqrt(-2.0 * log(u));
  sincospi(v, &pair.x, &pair.y);
  return make_double2(pair.x * radius, pair.y * radius);
}

}  // namespace trine_random

// `n` numbers further on.
__TRINE_DEVICE__ void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned used = state->STATE + (unsigned)(n & 3);
  state->STATE = used & 3;
  trine_random::advance(state, n / 4 + used / 4);
}
__TRINE_DEVICE__ void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  trine_random::add(state->ctr.z, state->ctr.w, n);
  state->output = trine_random::philox(state->ctr, state->key);
}
__TRINE_DEVICE__ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                  curandStatePhilox4_32_10_t* state) {
  *state = curandStatePhilox4_32_10_t{};
  state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

__TRINE_DEVICE__ unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const uint4 all = state->output;
  const unsigned at = state->STATE;
  const unsigned result = at == 0 ? all.x : at == 1 ? all.y : at == 2 ? all.z : all.w;
  state->STATE = (at + 1) & 3;
  if (at == 3) trine_random::advance(state, 1);
  return result;
}
__TRINE_DEVICE__ uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 old = state->output;
  trine_random::advance(state, 1);
  const uint4 next = state->output;
  switch (state->STATE) {
    case 0: return old;
    case 1: return make_uint4(old.y, old.z, old.w, next.x);
    case 2: return make_uint4(old.z, old.w, next.x, next.y);
    default: return make_uint4(old.w, next.x, next.y, next.z);
  }
}

__TRINE_DEVICE__ float curand_uniform(curandStatePhilox4_32_10_t* state) {
  return trine_random::uniform(curand(state));
}
__TRINE_DEVICE__ float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(trine_random::uniform(x.x), trine_random::uniform(x.y), trine_random::uniform(x.z),
                     trine_random::uniform(x.w));
}
__TRINE_DEVICE__ double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return trine_random::uniform_double(curand(state));
}
__TRINE_DEVICE__ double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(trine_random::uniform_double(x.x, x.y), trine_random::uniform_double(x.z, x.w));
}

__TRINE_DEVICE__ float2 curand_normal2(curandStatePhilox4_32_10_t* state) {
  const unsigned x = curand(state), y = curand(state);
  return trine_random::normal_pair(x, y);
}
__TRINE_DEVICE__ float curand_normal(curandStatePhilox4_32_10_t* state) {
  if (state->boxmuller_flag == 1) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_flag = 1;
  state->boxmuller_extra = pair.y;
  return pair.x;
}
__TRINE_DEVICE__ float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = trine_random::normal_pair(x.x, x.y), b = trine_random::normal_pair(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
template <class State>
__TRINE_DEVICE__ double2 curand_normal2_double(State* state) {
  return trine_random::normal_pair_double<double>(curand4(state));
}
template <class State>
__TRINE_DEVICE__ double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_flag_double = 1;
  state->boxmuller_extra_double = pair.y;
  return pair.x;
}
__TRINE_DEVICE__ float curand_log_normal(curandStatePhilox4_32_10_t* state, float mean, float deviation) {
  if (state->boxmuller_flag == 2) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_flag = 2;
  state->boxmuller_extra = expf(mean + deviation * pair.y);
  return expf(mean + deviation * pair.x);
}
