// NumPy's .npy files (format 1.0 to 3.0, C order, little-endian), to and from Tensor.
#pragma once

#include <string>

#include "trine/base/tensor.h"

namespace trine::media {

// Throws Error: io when it cannot be read, invalid_argument when it is no such file, or when its size is not what its
// header says.
Tensor load_npy(const std::string& path);
// "float32", as astype takes it.
std::string numpy_name(DType dtype);
// Throws Error{unsupported} for a type that NumPy has no code for (bf16, f8, sub-byte, string).
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace trine::media
