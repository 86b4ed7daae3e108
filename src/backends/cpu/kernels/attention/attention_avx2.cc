#include "backends/cpu/kernels/attention/attention_kernel.h"

namespace trine::cpu {

const AttentionIsa kAttentionAvx2 = {row_max, exp_row, scale_row, add_row, cap_row};

}  // namespace trine::cpu
