#include "simt/compile/parse.h"

#include "trine/base/error.h"

namespace trine::simt {

DeviceModule parse(std::string_view, const compute::CompileOptions&) {
  throw Error(ErrorCode::unsupported, "parse: not built yet");
}

}  // namespace trine::simt
