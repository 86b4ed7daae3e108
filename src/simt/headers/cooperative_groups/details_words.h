// Shuffles of values of any size, word by word.
#pragma once

#include <warp_functions.h>

// Friends of classes cannot be static.
#define __TRINE_GROUP__ __attribute__((device, always_inline)) inline

namespace cooperative_groups {
namespace details {

template <class T>
struct Words {
  static constexpr unsigned kCount = (sizeof(T) + 3) / 4;
  unsigned word[kCount];
};

template <class T>
__TRINE_GROUP__ Words<T> words_of(const T& value) {
  static_assert(__is_trivially_copyable(T), "values that threads exchange are copied bit by bit");
  Words<T> words{};
  __builtin_memcpy(&words, &value, sizeof(T));
  return words;
}
template <class T>
__TRINE_GROUP__ T value_of(const Words<T>& words) {
  alignas(T) char bytes[sizeof(T)];
  __builtin_memcpy(bytes, &words, sizeof(T));
  return __builtin_bit_cast(T, bytes);
}

#define __TRINE_SHUFFLE_WORDS__(name, function, lane_type)                                \
  template <class T>                                                                      \
  __TRINE_GROUP__ T name(unsigned mask, const T& value, lane_type lane, int width = 32) { \
    Words<T> words = words_of(value);                                                     \
    _Pragma("unroll") for (unsigned i = 0; i < Words<T>::kCount; ++i) words.word[i] =     \
        function(mask, words.word[i], lane, width);                                       \
    return value_of<T>(words);                                                            \
  }
__TRINE_SHUFFLE_WORDS__(shuffle, __shfl_sync, int)
__TRINE_SHUFFLE_WORDS__(shuffle_up, __shfl_up_sync, unsigned)
__TRINE_SHUFFLE_WORDS__(shuffle_down, __shfl_down_sync, unsigned)
__TRINE_SHUFFLE_WORDS__(shuffle_xor, __shfl_xor_sync, int)
#undef __TRINE_SHUFFLE_WORDS__

}  // namespace details
}  // namespace cooperative_groups
