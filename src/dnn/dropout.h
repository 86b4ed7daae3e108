// Which elements dropout keeps: element e has word e % 4 of Philox counter offset + e / 4.
#pragma once

#include <cstring>

#include "base/philox.h"

namespace trine::dnn {

class Dropout {
 public:
  // `random`: seed and offset, two u64; not read when `probability` is 0.
  Dropout(float probability, const void* random) : factor_(1 / (1 - probability)), threshold_(probability * 0x1p32) {
    if (probability > 0) std::memcpy(random_, random, sizeof random_);
  }

  bool any() const { return threshold_ > 0; }

  // What element `first + i` is multiplied by, for i in [0, n): 0 or 1 / (1 - probability).
  template <class Use>
  void for_factors(uint64_t first, int64_t n, Use use) const {
    const Philox philox(random_[0]);
    std::array<uint32_t, 4> words = philox(random_[1] + first / 4);
    for (int64_t i = 0; i < n; ++i, ++first) {
      if (i > 0 && first % 4 == 0) words = philox(random_[1] + first / 4);
      use(i, words[first % 4] >= threshold_ ? factor_ : 0.f);
    }
  }

 private:
  float factor_;
  double threshold_;
  uint64_t random_[2] = {};
};

}  // namespace trine::dnn
