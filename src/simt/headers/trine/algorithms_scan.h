// transform, reduce, inclusive_scan, exclusive_scan, copy_if, unique; see algorithms.h.
//
// Prefixes take two passes: each segment's sum, then, after these were added up by one block, each segment by its warp.
#pragma once

#include "algorithms_launch.h"

namespace trine {
namespace details {

template <class In, class Out, class Op>
__global__ void __launch_bounds__(kBlock) transform_kernel(const In* in, size_t n, Out* out, Op op) {
  const size_t step = (size_t)gridDim.x * kBlock;
  for (size_t i = (size_t)blockIdx.x * kBlock + threadIdx.x; i < n; i += step) out[i] = op(in[i]);
}
template <class A, class B, class Out, class Op>
__global__ void __launch_bounds__(kBlock) transform_kernel(const A* a, const B* b, size_t n, Out* out, Op op) {
  const size_t step = (size_t)gridDim.x * kBlock;
  for (size_t i = (size_t)blockIdx.x * kBlock + threadIdx.x; i < n; i += step) out[i] = op(a[i], b[i]);
}

// Operands change their order here: lane l adds up elements l, l + 32, ...
template <class In, class T, class Op>
__global__ void __launch_bounds__(kBlock) reduce_kernel(const In* in, size_t n, size_t length, T* sums, Op op) {
  const Segment own = own_segment(n, length);
  if (own.count == 0) return;
  const int lane = threadIdx.x % 32;
  const In* from = in + own.start;
  T sum = static_cast<T>(from[(size_t)lane < own.count ? lane : 0]);
  for (size_t i = lane + 32; i < own.count; i += 32) sum = op(sum, static_cast<T>(from[i]));
  sum = warp_reduce(sum, op, own.count < 32 ? (int)own.count : 32);
  if (lane == 0) sums[own.number] = sum;
}
template <class T, class Op>
__global__ void __launch_bounds__(kBlock) reduce_end_kernel(const T* sums, unsigned count, T* out, T initial, Op op) {
  if (count == 0) {
    if (threadIdx.x == 0) *out = initial;
    return;
  }
  // Each thread has a value: where there are fewer sums than threads, a warp's first lanes.
  T sum = sums[threadIdx.x < count ? threadIdx.x : 0];
  for (unsigned i = threadIdx.x + kBlock; i < count; i += kBlock) sum = op(sum, sums[i]);
  __shared__ Room<T, kBlock> room;
  room.values()[threadIdx.x] = sum;
  __syncthreads();
  const int valid = count < kBlock ? count : kBlock, lane = threadIdx.x % 32;
  if (threadIdx.x >= 32) return;
  sum = room.values()[lane < valid ? lane : 0];
  for (int i = lane + 32; i < valid; i += 32) sum = op(sum, room.values()[i]);
  sum = warp_reduce(sum, op, valid < 32 ? valid : 32);
  if (lane == 0) *out = op(initial, sum);
}

// In order.
template <class T, class Op>
__global__ void __launch_bounds__(kBlock) sums_kernel(const T* in, size_t n, size_t length, T* sums, Op op) {
  const Segment own = own_segment(n, length);
  if (own.count == 0) return;
  const int lane = threadIdx.x % 32;
  const T* from = in + own.start;
  const int first = own.count < 32 ? (int)own.count : 32;
  T sum = warp_reduce(from[lane < first ? lane : 0], op, first);
  size_t row = 32;
  for (; row + 32 <= own.count; row += 32) sum = op(sum, warp_reduce(from[row + lane], op, 32));
  if (row < own.count) {
    const int left = (int)(own.count - row);
    sum = op(sum, warp_reduce(from[row + (lane < left ? lane : 0)], op, left));
  }
  if (lane == 0) sums[own.number] = sum;
}

// Inclusive sums in place, by one block; *total is the last one.
template <class T, class Op, class Total>
__global__ void __launch_bounds__(kBlock) scan_sums_kernel(T* sums, unsigned count, Total* total, Op op) {
  T before = sums[0];
  for (unsigned first = 0; first < count; first += kBlock) {
    const unsigned i = first + threadIdx.x;
    T all = before, x = block_inclusive_scan(sums[i < count ? i : count - 1], op, all);
    if (first > 0) x = op(before, x), all = op(before, all);
    before = all;
    __syncthreads();  // a thread past the end reads the last sum
    if (i < count) sums[i] = x;
    if (total && i == count - 1) *total = static_cast<Total>(x);
  }
}

// sums[w] is that of all segments to w.
template <bool kExclusive, class T, class Op>
__global__ void __launch_bounds__(kBlock)
    scan_kernel(const T* in, size_t n, size_t length, const T* sums, T* out, T initial, Op op) {
  const Segment own = own_segment(n, length);
  if (own.count == 0) return;
  const int lane = threadIdx.x % 32;
  const T* from = in + own.start;
  T* to = out + own.start;
  bool has_before = kExclusive || own.number > 0;
  T before = initial;
  if (own.number > 0) before = kExclusive ? op(initial, sums[own.number - 1]) : sums[own.number - 1];
  const auto scan_row = [&](size_t row, int at) {
    T x = warp_inclusive_scan(from[row + at], op);
    if (has_before) x = op(before, x);
    const T last = warp_from(x, 31);
    if (kExclusive) {
      x = warp_from_before(x, 1);
      if (lane == 0) x = before;
    }
    before = last;
    has_before = true;
    return x;
  };
  size_t row = 0;
  for (; row + 32 <= own.count; row += 32) to[row + lane] = scan_row(row, lane);
  if (row < own.count) {
    const int left = (int)(own.count - row);
    const T x = scan_row(row, lane < left ? lane : 0);
    if (lane < left) to[row + lane] = x;
  }
}

// Elements that `chosen(in, i)` keeps: how many of a segment, and where they go.
template <class T, class Chosen>
__global__ void __launch_bounds__(kBlock)
    count_kernel(const T* in, size_t n, size_t length, size_t* counts, Chosen chosen) {
  const Segment own = own_segment(n, length);
  if (own.count == 0) return;
  size_t sum = 0;
  for (size_t row = 0; row < own.count; row += 32) {
    const size_t i = row + threadIdx.x % 32;
    const bool keep = i < own.count && chosen(in, own.start + i);
    sum += __popc(__ballot_sync(~0u, keep));
  }
  if (threadIdx.x % 32 == 0) counts[own.number] = sum;
}
template <class T, class Chosen>
__global__ void __launch_bounds__(kBlock)
    select_kernel(const T* in, size_t n, size_t length, const size_t* counts, T* out, Chosen chosen) {
  const Segment own = own_segment(n, length);
  if (own.count == 0) return;
  const int lane = threadIdx.x % 32;
  T* to = out + (own.number > 0 ? counts[own.number - 1] : 0);
  for (size_t row = 0; row < own.count; row += 32) {
    const size_t i = own.start + row + lane;
    const bool keep = row + lane < own.count && chosen(in, i);
    const unsigned kept = __ballot_sync(~0u, keep);
    if (keep) to[__popc(kept & ((1u << lane) - 1))] = in[i];
    to += __popc(kept);
  }
}

template <bool kExclusive, class T, class Op>
cudaError_t scan(const T* in, size_t n, T* out, T initial, Op op, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const Segments cut = segments_of(n, 1024, 8192);
  const Memory memory(cut.count * sizeof(T), stream);
  if (memory.error() != cudaSuccess) return memory.error();
  T* sums = memory.as<T>();
  if (cut.count > 1) {
    sums_kernel<<<cut.blocks(), kBlock, 0, stream>>>(in, n, cut.length, sums, op);
    scan_sums_kernel<<<1, kBlock, 0, stream>>>(sums, cut.count, static_cast<T*>(nullptr), op);
  }
  scan_kernel<kExclusive><<<cut.blocks(), kBlock, 0, stream>>>(in, n, cut.length, sums, out, initial, op);
  return cudaGetLastError();
}

template <class T, class Chosen>
cudaError_t select(const T* in, size_t n, T* out, size_t* count, Chosen chosen, cudaStream_t stream) {
  if (n == 0) return cudaMemsetAsync(count, 0, sizeof *count, stream);
  const Segments cut = segments_of(n, 1024, 8192);
  const Memory memory(cut.count * sizeof(size_t), stream);
  if (memory.error() != cudaSuccess) return memory.error();
  size_t* counts = memory.as<size_t>();
  count_kernel<<<cut.blocks(), kBlock, 0, stream>>>(in, n, cut.length, counts, chosen);
  scan_sums_kernel<<<1, kBlock, 0, stream>>>(counts, cut.count, count, Plus{});
  select_kernel<<<cut.blocks(), kBlock, 0, stream>>>(in, n, cut.length, counts, out, chosen);
  return cudaGetLastError();
}

template <class Predicate>
struct ChosenIf {
  Predicate predicate;
  template <class T>
  __TRINE_OPERATOR__ bool operator()(const T* in, size_t i) {
    return predicate(in[i]);
  }
};
template <class Same>
struct ChosenFirst {
  Same same;
  template <class T>
  __TRINE_OPERATOR__ bool operator()(const T* in, size_t i) {
    return i == 0 || !same(in[i - 1], in[i]);
  }
};

}  // namespace details

template <class In, class Out, class Op>
cudaError_t transform(const In* in, size_t n, Out* out, Op op, cudaStream_t stream = nullptr) {
  if (n == 0) return cudaSuccess;
  details::transform_kernel<<<details::grid_of(n), details::kBlock, 0, stream>>>(in, n, out, op);
  return cudaGetLastError();
}
template <class A, class B, class Out, class Op>
cudaError_t transform(const A* a, const B* b, size_t n, Out* out, Op op, cudaStream_t stream = nullptr) {
  if (n == 0) return cudaSuccess;
  details::transform_kernel<<<details::grid_of(n), details::kBlock, 0, stream>>>(a, b, n, out, op);
  return cudaGetLastError();
}

template <class In, class T, class Op = Plus>
cudaError_t reduce(const In* in, size_t n, T* out, T initial, Op op = Op(), cudaStream_t stream = nullptr) {
  const details::Segments cut = details::segments_of(n, 4096, 8192);
  const details::Memory memory(cut.count * sizeof(T) + 1, stream);
  if (memory.error() != cudaSuccess) return memory.error();
  T* sums = memory.as<T>();
  if (n > 0) details::reduce_kernel<<<cut.blocks(), details::kBlock, 0, stream>>>(in, n, cut.length, sums, op);
  details::reduce_end_kernel<<<1, details::kBlock, 0, stream>>>(sums, cut.count, out, initial, op);
  return cudaGetLastError();
}

template <class T, class Op = Plus>
cudaError_t inclusive_scan(const T* in, size_t n, T* out, Op op = Op(), cudaStream_t stream = nullptr) {
  return details::scan<false>(in, n, out, T(), op, stream);
}
template <class T, class Op = Plus>
cudaError_t exclusive_scan(const T* in, size_t n, T* out, T initial = T(), Op op = Op(),
                           cudaStream_t stream = nullptr) {
  return details::scan<true>(in, n, out, initial, op, stream);
}

template <class T, class Predicate>
cudaError_t copy_if(const T* in, size_t n, T* out, size_t* count, Predicate predicate, cudaStream_t stream = nullptr) {
  return details::select(in, n, out, count, details::ChosenIf<Predicate>{predicate}, stream);
}
template <class T, class Same = Equal>
cudaError_t unique(const T* in, size_t n, T* out, size_t* count, Same same = Same(), cudaStream_t stream = nullptr) {
  return details::select(in, n, out, count, details::ChosenFirst<Same>{same}, stream);
}

}  // namespace trine
