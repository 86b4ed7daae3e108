// Tensor maps: what bulk copies of tensors go by.
#pragma once

#include "compute/kernel_table.h"

namespace trine::cuda {

// As KernelTable::encode_tensor_map says. Throws Error{invalid_argument} for what the driver does not take.
void encode_tensor_map(int device, const compute::TensorMapShape& shape, void* address, void* map);

}  // namespace trine::cuda
