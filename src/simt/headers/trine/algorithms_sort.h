// sort, sort_by_key; see algorithms.h. Both are stable.
//
// Numbers by `<`: from the lowest digit of 8 bits to the highest, each pass counts the digits of segments, adds the
// counts up, and moves elements to their places. Anything else: tiles are sorted in shared memory, then merged pair by
// pair.
#pragma once

#include "algorithms_scan.h"

namespace trine {
namespace details {

template <class A, class B>
constexpr bool kSameType = false;
template <class A>
constexpr bool kSameType<A, A> = true;
template <class T>
constexpr bool kIsNumber = __is_arithmetic(T) && sizeof(T) <= 8 && !kSameType<T, bool>;

template <int kBytes>
struct WordOf {
  typedef unsigned long long type;
};
template <>
struct WordOf<1> {
  typedef unsigned char type;
};
template <>
struct WordOf<2> {
  typedef unsigned short type;
};
template <>
struct WordOf<4> {
  typedef unsigned type;
};

// Bits that are ordered as the numbers are; -0 is 0. Not-a-numbers come first or last, by their sign.
template <class T>
__TRINE_DEVICE__ typename WordOf<sizeof(T)>::type ordered_bits(T x) {
  typedef typename WordOf<sizeof(T)>::type Word;
  constexpr Word kTop = (Word)((Word)1 << (8 * sizeof(T) - 1));
  const Word bits = __builtin_bit_cast(Word, x);
  if constexpr (!(T(1) / 2 == 0))
    return bits == kTop || bits == 0 ? kTop : bits & kTop ? (Word)~bits : (Word)(bits | kTop);
  else if constexpr (T(-1) < T(0)) return (Word)(bits ^ kTop);
  else return bits;
}

constexpr int kDigits = 256, kWarps = kBlock / 32;

// counts[digit][segment]
template <class Key>
__global__ void __launch_bounds__(kBlock)
    digits_kernel(const Key* keys, size_t n, size_t length, unsigned segments, int shift, size_t* counts) {
  __shared__ unsigned all[kWarps][kDigits];
  unsigned* mine = all[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const Segment own = own_segment(n, length);
  for (int digit = lane; digit < kDigits; digit += 32) mine[digit] = 0;
  __syncwarp();
  for (size_t i = lane; i < own.count; i += 32)
    atomicAdd(&mine[ordered_bits(keys[own.start + i]) >> shift & (kDigits - 1)], 1u);
  __syncwarp();
  if (own.count > 0)
    for (int digit = lane; digit < kDigits; digit += 32) counts[(size_t)digit * segments + own.number] = mine[digit];
}

// Lanes of the warp that are `real` and have my digit.
__TRINE_DEVICE__ unsigned lanes_with(unsigned digit, bool real) {
  unsigned same = __ballot_sync(~0u, real);
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const unsigned those = __ballot_sync(~0u, digit >> bit & 1);
    same &= digit >> bit & 1 ? those : ~those;
  }
  return same;
}

struct NoValue {};

template <class Key, class Value>
__global__ void __launch_bounds__(kBlock)
    move_kernel(const Key* keys, const Value* values, size_t n, size_t length, unsigned segments, int shift,
                const size_t* places, Key* to_keys, Value* to_values) {
  __shared__ size_t all[kWarps][kDigits];
  size_t* next = all[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const Segment own = own_segment(n, length);
  if (own.count == 0) return;
  for (int digit = lane; digit < kDigits; digit += 32) next[digit] = places[(size_t)digit * segments + own.number];
  __syncwarp();
  for (size_t row = 0; row < own.count; row += 32) {
    const bool real = row + lane < own.count;
    const size_t at = own.start + (real ? row + lane : 0);
    const Key key = keys[at];
    const unsigned digit = (unsigned)(ordered_bits(key) >> shift) & (kDigits - 1), same = lanes_with(digit, real);
    const int before = __popc(same & ((1u << lane) - 1));
    const size_t place = next[digit] + before;
    __syncwarp();
    if (real) {
      if (before == 0) next[digit] = place + __popc(same);
      to_keys[place] = key;
      if constexpr (!kSameType<Value, NoValue>) to_values[place] = values[at];
    }
    __syncwarp();
  }
}

template <class Key, class Value>
cudaError_t radix_sort(Key* keys, Value* values, size_t n, cudaStream_t stream) {
  constexpr bool kValues = !kSameType<Value, NoValue>;
  const Segments cut = segments_of(n, 2048, 2048);
  const size_t counts = (size_t)kDigits * cut.count, key_bytes = room_for(n * sizeof(Key)),
               value_bytes = kValues ? room_for(n * sizeof(Value)) : 0;
  const Memory memory(key_bytes + value_bytes + counts * sizeof(size_t), stream);
  if (memory.error() != cudaSuccess) return memory.error();
  size_t* places = memory.as<size_t>(key_bytes + value_bytes);
  Key *from = keys, *to = memory.as<Key>();
  Value *from_values = values, *to_values = kValues ? memory.as<Value>(key_bytes) : nullptr;
  for (int shift = 0; shift < 8 * (int)sizeof(Key); shift += 8) {
    digits_kernel<<<cut.blocks(), kBlock, 0, stream>>>(from, n, cut.length, cut.count, shift, places);
    const cudaError_t error = exclusive_scan(places, counts, places, (size_t)0, Plus{}, stream);
    if (error != cudaSuccess) return error;
    move_kernel<<<cut.blocks(), kBlock, 0, stream>>>(from, from_values, n, cut.length, cut.count, shift, places, to,
                                                     to_values);
    Key* const key = from;
    from = to, to = key;
    Value* const value = from_values;
    from_values = to_values, to_values = value;
  }
  if (from == keys) return cudaGetLastError();
  cudaMemcpyAsync(keys, from, n * sizeof(Key), cudaMemcpyDeviceToDevice, stream);
  if constexpr (kValues) cudaMemcpyAsync(values, from_values, n * sizeof(Value), cudaMemcpyDeviceToDevice, stream);
  return cudaGetLastError();
}

// Items of a thread: a tile of a block is 32 KB at most.
template <class T>
constexpr int kSortItems = sizeof(T) <= 8    ? 8
                           : sizeof(T) <= 16 ? 8
                           : sizeof(T) <= 32 ? 4
                           : sizeof(T) <= 64 ? 2
                                             : 1;

template <class T, class Less>
__global__ void __launch_bounds__(kBlock) sort_tiles_kernel(T* data, size_t n, Less less) {
  constexpr int kItems = kSortItems<T>, kTile = kBlock * kItems;
  const size_t start = (size_t)blockIdx.x * kTile;
  const int count = n - start < kTile ? (int)(n - start) : kTile;
  Room<T, kItems> own;
  T(&items)[kItems] = *reinterpret_cast<T(*)[kItems]>(own.values());
  block_load_blocked(data + start, count, items);
  block_sort<kBlock>(items, less, count);
  block_store_blocked(data + start, count, items);
}

// A block writes a tile of two ranges of `width` merged: it finds the part of each range, and merges these.
template <class T, class Less>
__global__ void __launch_bounds__(kBlock) merge_kernel(const T* from, T* to, size_t n, size_t width, Less less) {
  constexpr int kItems = kSortItems<T>, kTile = kBlock * kItems;
  __shared__ Room<T, kTile> room;
  __shared__ size_t splits[2];
  const size_t start = (size_t)blockIdx.x * kTile, first = start / (2 * width) * (2 * width);
  const size_t left = n - first, a_all = left < width ? left : width,
               b_all = left - a_all < width ? left - a_all : width;
  const T *a = from + first, *b = a + a_all;
  const int count = n - start < kTile ? (int)(n - start) : kTile;
  if (threadIdx.x < 2)
    splits[threadIdx.x] = merge_split(a, a_all, b, b_all, start - first + (threadIdx.x ? count : 0), less);
  __syncthreads();
  const size_t a_first = splits[0];
  const int a_count = (int)(splits[1] - a_first), b_count = count - a_count;
  a += a_first;
  b += start - first - a_first;
  T* tile = room.values();
  for (int i = threadIdx.x; i < count; i += kBlock) tile[i] = i < a_count ? a[i] : b[i - a_count];
  __syncthreads();
  Room<T, kItems> own;
  T(&items)[kItems] = *reinterpret_cast<T(*)[kItems]>(own.values());
  merge_items(tile, a_count, tile + a_count, b_count, (int)threadIdx.x * kItems, less, items);
  __syncthreads();
  block_store_blocked(tile, count, items);
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += kBlock) to[start + i] = tile[i];
}

template <class T, class Less>
cudaError_t merge_sort(T* data, size_t n, Less less, cudaStream_t stream) {
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 128,
                "elements are trivially copyable, of 128 bytes at most");
  constexpr size_t kTile = (size_t)kBlock * kSortItems<T>;
  const unsigned blocks = (unsigned)((n + kTile - 1) / kTile);
  const Memory memory(n > kTile ? n * sizeof(T) : 1, stream);
  if (memory.error() != cudaSuccess) return memory.error();
  sort_tiles_kernel<<<blocks, kBlock, 0, stream>>>(data, n, less);
  T *from = data, *to = memory.as<T>();
  for (size_t width = kTile; width < n; width *= 2) {
    merge_kernel<<<blocks, kBlock, 0, stream>>>(from, to, n, width, less);
    T* const last = from;
    from = to, to = last;
  }
  if (from != data) cudaMemcpyAsync(data, from, n * sizeof(T), cudaMemcpyDeviceToDevice, stream);
  return cudaGetLastError();
}

template <class Key, class Value>
struct Pair {
  Key key;
  Value value;
};
template <class Less>
struct LessKey {
  Less less;
  template <class T>
  __TRINE_OPERATOR__ bool operator()(const T& a, const T& b) {
    return less(a.key, b.key);
  }
};
template <class Key, class Value>
__global__ void __launch_bounds__(kBlock)
    join_kernel(const Key* keys, const Value* values, size_t n, Pair<Key, Value>* to) {
  const size_t step = (size_t)gridDim.x * kBlock;
  for (size_t i = (size_t)blockIdx.x * kBlock + threadIdx.x; i < n; i += step)
    to[i].key = keys[i], to[i].value = values[i];
}
template <class Key, class Value>
__global__ void __launch_bounds__(kBlock)
    part_kernel(const Pair<Key, Value>* from, size_t n, Key* keys, Value* values) {
  const size_t step = (size_t)gridDim.x * kBlock;
  for (size_t i = (size_t)blockIdx.x * kBlock + threadIdx.x; i < n; i += step)
    keys[i] = from[i].key, values[i] = from[i].value;
}

}  // namespace details

template <class T, class Order = Less>
cudaError_t sort(T* data, size_t n, Order less = Order(), cudaStream_t stream = nullptr) {
  if (n < 2) return cudaSuccess;
  if constexpr (details::kIsNumber<T> && details::kSameType<Order, Less>)
    return details::radix_sort(data, static_cast<details::NoValue*>(nullptr), n, stream);
  else return details::merge_sort(data, n, less, stream);
}

template <class Key, class Value, class Order = Less>
cudaError_t sort_by_key(Key* keys, Value* values, size_t n, Order less = Order(), cudaStream_t stream = nullptr) {
  if (n < 2) return cudaSuccess;
  if constexpr (details::kIsNumber<Key> && details::kSameType<Order, Less>) {
    return details::radix_sort(keys, values, n, stream);
  } else {
    typedef details::Pair<Key, Value> Pair;
    const details::Memory memory(n * sizeof(Pair), stream);
    if (memory.error() != cudaSuccess) return memory.error();
    Pair* pairs = memory.as<Pair>();
    details::join_kernel<<<details::grid_of(n), details::kBlock, 0, stream>>>(keys, values, n, pairs);
    const cudaError_t error = details::merge_sort(pairs, n, details::LessKey<Order>{less}, stream);
    if (error != cudaSuccess) return error;
    details::part_kernel<<<details::grid_of(n), details::kBlock, 0, stream>>>(pairs, n, keys, values);
    return cudaGetLastError();
  }
}

}  // namespace trine
