#include "simt/compile/ptx.h"

#include "trine/base/error.h"

namespace trine::simt {

std::string ptx(const DeviceModule&, std::string_view, int, bool) {
  throw Error(ErrorCode::unsupported, "ptx: not built yet");
}

}  // namespace trine::simt
