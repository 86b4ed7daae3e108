// libFuzzer target: any bytes are an Error or an engine that prints, is written again and runs. Each input is tried as
// it is, and with the checksums made right, so that changed metadata reaches the verifier and the reader.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/container.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

namespace {

using namespace trine;

constexpr size_t kHeaderBytes = 64;

template <class T>
T read_at(const std::vector<uint8_t>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void write_at(std::vector<uint8_t>& bytes, size_t offset, uint64_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Magic, version, sizes and the hashes of header and metadata, for the place where the header says the metadata is.
std::vector<uint8_t> repaired(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  std::memcpy(bytes.data(), "TRINE\r\n\x1a\x01\0\0\0\0\0\0\0", 16);
  const auto offset = read_at<uint64_t>(bytes, 16) % size / 64 * 64;
  write_at(bytes, 16, offset);
  write_at(bytes, 24, size - offset);
  write_at(bytes, 32, XXH3_64bits(bytes.data() + offset, size - offset));
  write_at(bytes, 40, size);
  write_at(bytes, 48, XXH3_64bits(bytes.data(), 48));
  return bytes;
}

Datum small_input(const Type& type) {
  if (!type.is_tensor() || !type.shape.has_rank() || type.dtype == DType::none) return {};
  Dims dims;
  for (const Dim& d : type.shape.dims()) dims.push_back(d.is_constant() ? d.value() : 2);
  Tensor t(type.dtype, dims);
  if (type.dtype != DType::string) std::memset(t.mutable_data(), 1, t.bytes());
  return t;
}

void open_and_run(const void* data, size_t size) {
  try {
    const Engine engine = Engine::from_bytes(data, size);
    if (engine.graph_text().empty() || engine.plan_text().empty()) std::abort();
    const std::vector<uint8_t> again = engine.to_bytes();
    Engine::from_bytes(again.data(), again.size());
    if (!engine.state()->objects.empty()) return;  // machine code does what it does
    Session session(engine, {.threads = 1, .max_seconds = 1});
    std::vector<Datum> inputs;
    for (const IoInfo& io : engine.inputs()) inputs.push_back(small_input(io.type));
    session.run(inputs);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("TRINE_MAX_MEM", "64", 0);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  open_and_run(data, size);
  if (size < kHeaderBytes) return 0;
  const std::vector<uint8_t> bytes = repaired(data, size);
  open_and_run(bytes.data(), bytes.size());
  return 0;
}
