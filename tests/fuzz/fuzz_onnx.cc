// libFuzzer target: any bytes are an Error or a graph that keeps its invariants and prints.
#include <cstdint>
#include <cstdlib>

#include "import/onnx/import.h"
#include "trine/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const trine::ImportedModel m = trine::import_onnx_bytes({reinterpret_cast<const char*>(data), size});
    m.graph.verify();
    if (m.graph.text().empty()) std::abort();
  } catch (const trine::Error&) {
  }
  return 0;
}
