// What libtrine_simt exports.
#include "simt/compiler.h"

#include "simt/compile/load_cpu.h"
#include "simt/compile/parse.h"
#include "simt/compile/ptx.h"

extern "C" __attribute__((visibility("default"))) const trine::simt::Compiler& trine_simt_compiler() {
  static constexpr trine::simt::Compiler compiler{trine::simt::parse, trine::simt::ptx, trine::simt::load_cpu};
  return compiler;
}
