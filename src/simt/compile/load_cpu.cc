#include "simt/compile/load_cpu.h"

#include "trine/base/error.h"

namespace trine::simt {

std::unique_ptr<CpuProgram> load_cpu(const DeviceModule&, std::span<const RuntimeSymbol>) {
  throw Error(ErrorCode::unsupported, "load_cpu: not built yet");
}

}  // namespace trine::simt
