#include "import/onnx/import.h"

#include <fmt/format.h>

#include <cstring>

#include "import/onnx/convert.h"
#include "import/onnx/files.h"
#include "import/onnx/wire.h"
#include "trine/base/error.h"

namespace trine {
namespace onnx {
namespace {

constexpr int64_t kOldestIr = 3;
constexpr int64_t kNewestIr = 14;

// What a hostile file may become is bounded by its size: a node or value takes about a quarter of a kilobyte here and
// at least a few bytes in the file.
int64_t object_limit(size_t file_bytes) { return 200'000 + static_cast<int64_t>(file_bytes / 4); }
int64_t dense_limit(size_t file_bytes) { return (int64_t{64} << 20) + 64 * static_cast<int64_t>(file_bytes); }

ProtoModel read_checked_model(Bytes bytes) {
  if (bytes.empty()) throw Error(ErrorCode::invalid_model, "is empty; an ONNX model is expected");
  if (bytes.starts_with("version https://git-lfs"))
    throw Error(ErrorCode::invalid_model, "is a Git LFS pointer, not the model itself; run: git lfs pull");
  ProtoModel model;
  try {
    model = read_model(bytes);
  } catch (const Damaged& e) {
    throw Error(ErrorCode::invalid_model,
                fmt::format("is not an ONNX model, or damaged: {} at byte {}", e.what(), e.at() - bytes.data()));
  }
  if (!model.has_graph || model.ir_version <= 0)
    throw Error(ErrorCode::invalid_model, fmt::format("is not an ONNX model: ir_version {}, {} graph", model.ir_version,
                                                      model.has_graph ? "one" : "no"));
  if (model.ir_version < kOldestIr || model.ir_version > kNewestIr)
    throw Error(ErrorCode::unsupported,
                fmt::format("has ir_version {}; {} to {} are supported", model.ir_version, kOldestIr, kNewestIr));
  return model;
}

Environment environment_of(const ProtoModel& model) {
  Environment environment;
  for (const auto& [domain, version] : model.opsets) environment.opsets[domain] = version;
  const auto standard = environment.opsets.find("");
  // Below kOldestOpset most operators mean what they mean at kOldestOpset; versions.cc refuses the others.
  if (standard != environment.opsets.end() && (standard->second < 1 || standard->second > kNewestOpset))
    throw Error(ErrorCode::unsupported,
                fmt::format("uses opset {}; {} to {} are supported", standard->second, kOldestOpset, kNewestOpset));
  return environment;
}

Type declared_type(const ProtoValue& value, DimNames& names) {
  try {
    return read_type(value.type, value.name, names);
  } catch (const Error&) {
    return unknown_type();
  }
}

struct Source {
  FileBytes file;
  std::string folder;
};

ImportedModel import_checked(const Source& source, std::string_view name) {
  const Bytes bytes = source.file.bytes;
  const ProtoModel model = read_checked_model(bytes);
  ImportedModel out;
  const Environment environment = environment_of(model);
  DataFolder folder(source.folder);
  TensorReader tensors(source.file.owner, folder, dense_limit(bytes.size()));
  DimNames names;
  Budget budget(object_limit(bytes.size()));
  Converter converter(tensors, names, budget);
  for (Bytes function : model.functions) converter.add_function(function);
  GraphWriter writer(budget, true);
  Scope scope{writer, nullptr, nullptr, {}};
  const ProtoGraph graph = read_graph(model.graph);
  converter.convert_graph(graph, scope, environment, false);
  converter.report().finish(name);
  writer.graph.verify();

  out.graph = std::move(writer.graph);
  for (const ProtoValue& output : graph.outputs) out.declared_outputs.push_back(declared_type(output, names));
  out.ir_version = model.ir_version;
  if (const auto it = environment.opsets.find(""); it != environment.opsets.end()) out.opset = it->second;
  out.producer = model.producer_name;
  if (!model.producer_version.empty()) out.producer += fmt::format(" {}", model.producer_version);
  for (const auto& [key, value] : model.metadata) out.metadata.emplace(key, value);
  return out;
}

// Every error begins with the model's name.
ImportedModel import_named(const Source& source, std::string_view name) {
  const std::string prefix = fmt::format("{}: ", name);
  try {
    return import_checked(source, name);
  } catch (const Damaged& e) {
    throw Error(ErrorCode::invalid_model,
                fmt::format("{}damaged: {} at byte {}", prefix, e.what(), e.at() - source.file.bytes.data()));
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(prefix)) throw;
    throw Error(e.code(), prefix + e.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, prefix + "not enough memory to import it");
  }
}

}  // namespace
}  // namespace onnx

ImportedModel import_onnx(const std::string& path, const ImportOptions& options) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return onnx::import_named({onnx::map_file(path), folder}, options.name.empty() ? path : options.name);
}

ImportedModel import_onnx_bytes(std::span<const char> bytes, const ImportOptions& options, const std::string& folder) {
  const auto copy = std::make_shared<std::string>(bytes.data(), bytes.size());
  return onnx::import_named({{*copy, copy}, folder}, options.name.empty() ? "model" : options.name);
}

}  // namespace trine
