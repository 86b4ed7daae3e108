#include "inspect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "model_file.h"
#include "terminal.h"
#include "trine/engine/ranges.h"

namespace trine::cli {
namespace {

constexpr size_t kLongestValue = 60;  // of metadata such as a dictionary, in the text

Json named(const std::vector<IoInfo>& infos) {
  Json list = Json::array();
  for (const IoInfo& info : infos) {
    list.push_back({{"name", info.name}});
    list.back().update(to_json(info.type));
  }
  return list;
}

Json types(const std::vector<Type>& list) {
  Json out = Json::array();
  for (const Type& type : list) out.push_back(to_json(type));
  return out;
}

void count(const GraphInfo& graph, bool body, GraphCounts& counts, std::set<const void*>& seen) {
  (body ? counts.body_nodes : counts.nodes) += graph.nodes.size();
  for (const ConstantInfo& constant : graph.constants) {
    if (!seen.insert(constant.data).second) continue;
    counts.weight_bytes += constant.bytes;
    const DType dtype = constant.type.dtype;
    const size_t each = byte_size(dtype);
    if (dtype != DType::i64 && dtype != DType::boolean && each > 0) counts.parameters += constant.bytes / each;
  }
  for (const NodeInfo& node : graph.nodes) {
    ++counts.operators[node.op];
    for (const GraphInfo& inner : node.bodies) count(inner, true, counts, seen);
  }
}

Json counts_json(const GraphInfo& graph) {
  const GraphCounts counts = counts_of(graph);
  Json report = {{"nodes", counts.nodes}, {"body_nodes", counts.body_nodes}, {"operators", Json::object()}};
  for (const auto& [op, times] : counts.operators) report["operators"][op] = times;
  report["parameters"] = counts.parameters;
  report["weight_bytes"] = counts.weight_bytes;
  return report;
}

int64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

// The model's own: what the engine remembers is told apart.
Json own_metadata(const std::map<std::string, std::string>& metadata) {
  Json own = Json::object();
  for (const auto& [key, value] : metadata)
    if (!key.starts_with("trine.")) own[key] = value;
  return own;
}

Json build_json(const BuildRecord& record) {
  const BuildOptions& o = record.options;
  return {{"device", o.device},
          {"threads", o.threads},
          {"kernels", record.timed ? "timed" : "cost model"},
          {"precision", name(o.precision)},
          {"verify", name(o.verify)},
          {"max_error", o.max_error},
          {"deterministic", o.deterministic},
          {"workspace_bytes", o.workspace_bytes},
          {"max_memory_bytes", o.max_memory_bytes},
          {"strict_fp32", o.strict_fp32},
          {"fast", o.fast},
          {"code", o.code},
          {"drop", o.drop},
          {"skip_passes", o.skip_passes},
          {"providers", o.providers},
          {"half", record.half.empty() ? Json() : Json(record.half)},
          {"error", record.error ? Json(*record.error) : Json()},
          {"in_fp32", record.in_fp32}};
}

// Open dimensions: {"N": {"assumed": 8, "min": 1, "max": 32}}; without bounds the engine runs with any size.
Json sizes_json(const Engine& engine, const std::optional<BuildRecord>& record) {
  Json sizes = Json::object();
  for (const auto& [symbol, size] : record ? record->assumed : std::map<std::string, int64_t>())
    sizes[symbol]["assumed"] = size;
  for (const auto& [symbol, range] : stored_ranges(engine.metadata())) {
    sizes[symbol]["assumed"] = range.likely;
    sizes[symbol]["min"] = range.min;
    sizes[symbol]["max"] = range.max;
  }
  return sizes;
}

std::string type_text(const Json& type) {
  if (!type.contains("dtype")) return type["kind"].get<std::string>();
  if (type["shape"].is_null()) return type["dtype"].get<std::string>() + "[*]";
  std::string dims;
  for (const Json& dim : type["shape"])
    dims += (dims.empty() ? "" : ",") + (dim.is_string() ? dim.get<std::string>() : dim.dump());
  return fmt::format("{}[{}]", type["dtype"].get<std::string>(), dims);
}

std::string bytes_of(const Json& report, const char* key) { return bytes_text(report[key].get<double>()); }

std::string heading(const char* text) { return styled(text, Style::bold) + "\n"; }

std::string io_text(const Json& report, const char* key) {
  std::string text = heading(key);
  for (const Json& info : report[key])
    text += fmt::format("  {}  {}\n", info["name"].get<std::string>(), type_text(info));
  return text;
}

std::string shortened(const std::string& value) {
  std::string line = value.substr(0, kLongestValue);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return value.size() > kLongestValue ? fmt::format("{}... ({} bytes)", line, value.size()) : line;
}

std::string operators_text(const Json& report) {
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& [op, times] : report["operators"].items()) order.emplace_back(times.get<size_t>(), op);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = heading("operators");
  for (const auto& [times, op] : order) text += fmt::format("{:>7}  {}\n", times, op);
  return text;
}

std::string plans_text(const Json& report) {
  std::string text = heading("plans");
  bool fits = false;
  for (const Json& plan : report["plans"]) {
    fits = fits || plan["in_use"].get<bool>();
    text += fmt::format("  for {} with {} threads{}\n", plan["cpu"].get<std::string>(), plan["threads"].get<int>(),
                        plan["in_use"].get<bool>() ? ", used here" : "");
  }
  if (!fits) text += "  none fits this machine: kernels were chosen when the file was opened\n";
  std::string levels;
  for (const Json& level : report["code"]) levels += " " + level.get<std::string>();
  return text + fmt::format("  machine code for:{}\n", levels.empty() ? " none" : levels);
}

std::string sizes_text(const Json& report) {
  if (report["sizes"].empty()) return "";
  std::string text = heading("open dimensions");
  for (const auto& [symbol, size] : report["sizes"].items()) {
    text += fmt::format("  {}: made for {}, runs with {}\n", symbol, size["assumed"].get<int64_t>(),
                        size.contains("min")
                            ? fmt::format("{} to {}", size["min"].get<int64_t>(), size["max"].get<int64_t>())
                            : "any size");
  }
  return text;
}

std::string build_text(const Json& report) {
  if (!report.contains("build")) return "";
  std::string text = heading("built with");
  for (const auto& [option, value] : report["build"].items()) {
    if (value.is_null() || value.is_object()) continue;
    std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_array()) {
      shown.clear();
      for (const Json& item : value) shown += (shown.empty() ? "" : ",") + item.get<std::string>();
      if (shown.empty()) continue;
    }
    if (value.is_number() && value.get<double>() == 0)
      shown = option == "threads" ? "all" : option == "max_error" ? "default" : "any";
    text += fmt::format("  {}: {}\n", option, shown);
  }
  if (const Json& layers = report["build"]["in_fp32"]; !layers.empty()) {
    text += heading("layers in fp32");
    for (const auto& [node, why] : layers.items()) text += fmt::format("  {}: {}\n", node, why.get<std::string>());
  }
  return text;
}

}  // namespace

Json to_json(const Type& type) {
  if (type.is_tensor()) {
    Json shape = nullptr;
    if (type.shape.has_rank()) {
      shape = Json::array();
      for (const Dim& dim : type.shape.dims()) {
        if (dim.is_constant()) shape.push_back(dim.value());
        else shape.push_back(dim.text());
      }
    }
    return {{"dtype", std::string(name(type.dtype))}, {"shape", shape}};
  }
  if (type.kind == Type::Kind::none) return {{"kind", "none"}};
  Json out = {{"kind", type.kind == Type::Kind::sequence ? "sequence" : "optional"}};
  if (type.element) out["element"] = to_json(*type.element);
  return out;
}

Json to_json(const GraphInfo& graph) {
  Json nodes = Json::array(), constants = Json::array();
  for (const ConstantInfo& constant : graph.constants) {
    constants.push_back({{"name", constant.name}});
    constants.back().update(to_json(constant.type));
    constants.back()["bytes"] = constant.bytes;
  }
  for (const NodeInfo& node : graph.nodes) {
    Json attributes = Json::object();
    for (const auto& [key, value] : node.attributes) std::visit([&](const auto& v) { attributes[key] = v; }, value);
    nodes.push_back({{"name", node.name},
                     {"op", node.op},
                     {"inputs", node.inputs},
                     {"outputs", node.outputs},
                     {"attributes", attributes}});
    for (const GraphInfo& body : node.bodies) nodes.back()["bodies"].push_back(to_json(body));
  }
  return {
      {"inputs", named(graph.inputs)}, {"outputs", named(graph.outputs)}, {"constants", constants}, {"nodes", nodes}};
}

Json to_json(const PlanInfo& plan) {
  Json steps = Json::array();
  for (const StepInfo& step : plan.steps) {
    steps.push_back({{"node", step.node},
                     {"operators", step.operators},
                     {"runs", step.op},
                     {"kernel", step.kernel},
                     {"provider", step.provider},
                     {"inputs", types(step.inputs)},
                     {"outputs", types(step.outputs)},
                     {"flops", step.flops},
                     {"bytes", step.bytes}});
    if (!step.note.empty()) steps.back()["note"] = step.note;
  }
  return {{"steps", steps}, {"nodes_of_open_size", plan.nodes_left}};
}

Json arena_json(const PlanInfo& plan) {
  Json values = Json::array();
  for (const ArenaValue& value : plan.arena) {
    values.push_back({{"name", value.name}});
    values.back().update(to_json(value.type));
    values.back().update({{"offset", value.offset}, {"bytes", value.bytes}});
  }
  return {{"arena_bytes", plan.arena_bytes}, {"workspace_bytes", plan.workspace_bytes}, {"values", values}};
}

GraphCounts counts_of(const GraphInfo& graph) {
  GraphCounts counts;
  std::set<const void*> seen;
  count(graph, false, counts, seen);
  return counts;
}

Json model_report(const std::string& path, const Model& model) {
  Json report = {{"model", path},
                 {"kind", "model"},
                 {"file_bytes", file_bytes(path)},
                 {"opset", model.opset()},
                 {"ir_version", model.ir_version()}};
  const auto producer = model.metadata().find("producer");
  report["producer"] = producer == model.metadata().end() ? "" : producer->second;
  report["inputs"] = named(model.inputs());
  report["outputs"] = named(model.outputs());
  report.update(counts_json(graph_info(model)));
  report["metadata"] = own_metadata(model.metadata());
  return report;
}

Json engine_report(const std::string& path, const Engine& engine, const std::map<std::string, int64_t>& sizes,
                   const std::string& device) {
  Json report = {{"model", path}, {"kind", "engine"}};
  if (is_engine_file(path)) report["file_bytes"] = file_bytes(path);
  report["inputs"] = named(engine.inputs());
  report["outputs"] = named(engine.outputs());
  report.update(counts_json(graph_info(engine)));
  if (const auto memory = memory_of(engine, sizes, device)) {
    report["plan_weight_bytes"] = memory->weights;
    report["activation_bytes"] = memory->activations;
  }
  report["plans"] = Json::array();
  for (const PlanMachine& machine : plan_machines(engine))
    report["plans"].push_back({{"cpu", machine.cpu}, {"threads", machine.threads}, {"in_use", machine.in_use}});
  report["code"] = code_levels(engine);
  const auto record = build_record(engine);
  report["sizes"] = sizes_json(engine, record);
  if (record) report["build"] = build_json(*record);
  report["metadata"] = own_metadata(engine.metadata());
  report["notes"] = engine.notes();
  return report;
}

std::string report_text(const Json& report) {
  const bool engine = report["kind"] == "engine";
  std::string text = report["model"].get<std::string>() + ": ";
  if (!engine) {
    text += fmt::format("ONNX model, opset {}, IR version {}", report["opset"].get<int64_t>(),
                        report["ir_version"].get<int64_t>());
    if (const auto producer = report["producer"].get<std::string>(); !producer.empty()) text += ", from " + producer;
  } else {
    text += report.contains("file_bytes") ? "engine" : "built here";
  }
  if (report.contains("file_bytes")) text += ", " + bytes_of(report, "file_bytes");
  text += "\n" + io_text(report, "inputs") + io_text(report, "outputs");
  const auto inside = report["body_nodes"].get<size_t>();
  const auto nodes = report["nodes"].get<size_t>();
  text += fmt::format("{} {}{}, {} parameters, {}", nodes, styled(nodes == 1 ? "node" : "nodes", Style::bold),
                      inside ? fmt::format(" and {} inside them", inside) : "",
                      count_text(report["parameters"].get<double>()), bytes_of(report, "weight_bytes"));
  if (report.contains("plan_weight_bytes"))
    text += fmt::format("; weights as kernels read them {}, activations {}", bytes_of(report, "plan_weight_bytes"),
                        bytes_of(report, "activation_bytes"));
  text += "\n" + operators_text(report);
  if (engine) text += plans_text(report) + sizes_text(report) + build_text(report);
  if (!report["metadata"].empty()) text += heading("metadata");
  for (const auto& [key, value] : report["metadata"].items())
    text += fmt::format("  {}: {}\n", key, shortened(value.get<std::string>()));
  return text;
}

}  // namespace trine::cli
