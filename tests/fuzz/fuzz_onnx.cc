// libFuzzer target: any bytes are an Error or a graph that keeps its invariants and prints, and that builds or is
// refused.
#include <cstdint>
#include <cstdlib>

#include "import/onnx/import.h"
#include "trine/base/error.h"
#include "trine/engine/build.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("TRINE_MAX_MEM", "64", 0);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trine;
  try {
    const ImportedModel m = import_onnx_bytes({reinterpret_cast<const char*>(data), size});
    m.graph.verify();
    if (m.graph.text().empty()) std::abort();
    build(load_bytes(data, size), {.threads = 1, .verify = Verify::off, .code = false});
  } catch (const Error&) {
  }
  return 0;
}
