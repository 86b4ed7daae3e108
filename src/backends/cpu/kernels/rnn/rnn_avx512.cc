#include "backends/cpu/kernels/rnn/rnn_kernel.h"

namespace trine::cpu {

const RnnIsa kRnnAvx512 = {lstm,      gru_reset,   gru_linear,  gru_output, tanh_cell,
                           relu_cell, sigmoid_row, lstm_fitted, clip_row};

}  // namespace trine::cpu
