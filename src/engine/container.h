// The engine file: a 64-byte header, 64-byte aligned sections of bulk bytes, and a FlatBuffers section that names them.
//
//   magic "TRINE\r\n\x1a" | u32 version | u32 flags=0 | u64 meta offset | u64 meta bytes | u64 meta hash | u64 file
//   bytes | u64 hash of the header up to here | 8 zero bytes
//
// Hashes are XXH3-64. They find damage; they do not prove who made the file (docs/engine-file.md).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine_state.h"

namespace trine {

constexpr uint32_t kEngineVersion = 1;

// A file's bytes: mapped, or held in memory.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
  bool mapped = false;
};
FileBytes map_file(const std::string& path);  // throws Error{io}

// What a file holds, checked but not yet planned.
struct StoredStep {
  int node = 0;
  std::vector<std::string> rows;
  std::vector<int> packed;
  std::vector<struct StoredPlan> bodies;
};
struct StoredPlan {
  std::string fingerprint;
  dnn::Limits limits;  // of choosing kernels; the level is the reader's
  std::vector<StoredStep> steps;
  std::vector<PackedWeights> packed;
  std::string device;  // as Plan::device
};
struct StoredEngine {
  std::shared_ptr<Graph> graph;
  std::vector<StoredPlan> plans;
  std::vector<codegen::ObjectCode> objects;
  std::vector<DeviceCode> device_code;
  std::map<std::string, std::string> metadata;
};

std::vector<uint8_t> write_engine(const Engine::State& state);
// Throws Error{invalid_engine} for anything that is not a complete, undamaged engine file.
StoredEngine read_engine(const FileBytes& file);

}  // namespace trine
