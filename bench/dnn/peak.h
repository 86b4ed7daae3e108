// The most that one core of this machine does in fp32, measured: fused multiply-adds on registers, nothing else.
#pragma once

namespace trine::bench {

double peak_flops_per_core();

}  // namespace trine::bench
