// SortKeys: a total order over the elements of any tensor, for TopK and Unique. NaN is equal to NaN and larger than all
// else; complex numbers compare by real, then imaginary part; strings by bytes.
#pragma once

#include "trine/base/tensor.h"

namespace trine {

class SortKeys {
 public:
  explicit SortKeys(const Tensor& tensor);
  int compare(int64_t a, int64_t b) const;  // < 0, 0, > 0: element a before, like, after element b

 private:
  std::vector<double> reals_;  // two per element of a complex tensor
  std::vector<int64_t> integers_;
  const std::vector<std::string>* strings_ = nullptr;
  Tensor tensor_;  // keeps strings_ alive
  bool is_unsigned_ = false;
  int parts_ = 1;
};

}  // namespace trine
