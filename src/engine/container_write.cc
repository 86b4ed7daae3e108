// Writing: sections first, then the metadata that names them. Nothing depends on addresses, time or hash order, so that
// the same engine gives the same bytes.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <map>

#include "engine/container.h"
#include "engine_generated.h"

namespace trine {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kAlignment = 64;
constexpr int64_t kInlineBytes = 256;  // smaller constants live in the metadata
constexpr size_t kLargeBytes = 16 << 10;

class Writer {
 public:
  explicit Writer(const Engine::State& state) : state_(state), file_(kHeaderBytes) {}

  std::vector<uint8_t> run() {
    const auto graph = write(*state_.graph);
    std::vector<flatbuffers::Offset<fb::Plan>> plans{write(*state_.plan)};
    std::vector<flatbuffers::Offset<fb::Object>> objects;
    for (const codegen::ObjectCode& object : state_.objects) objects.push_back(write(object));
    std::vector<flatbuffers::Offset<fb::DeviceCode>> device_code;
    for (const DeviceCode& code : state_.device_code)
      device_code.push_back(
          fb::CreateDeviceCodeDirect(fbb_, code.device.c_str(), add_section(code.bytes.data(), code.bytes.bytes())));
    std::vector<flatbuffers::Offset<fb::Entry>> entries;
    for (const auto& [key, value] : state_.metadata)
      entries.push_back(fb::CreateEntryDirect(fbb_, key.c_str(), value.c_str()));
    const auto sections = lay_out_sections();
    const auto root = fb::CreateEngineDirect(fbb_, graph, &plans, &objects, &entries, &sections,
                                             device_code.empty() ? nullptr : &device_code);
    fbb_.Finish(root);
    return finish();
  }

 private:
  struct Bulk {
    const void* data;
    size_t bytes;
    bool original;  // a large weight as the graph has it
  };

  int add_section(const void* data, size_t bytes, bool original = false) {
    bulk_.push_back({data, bytes, original});
    return static_cast<int>(bulk_.size()) - 1;
  }

  // Bodies share what they take from outside: one section.
  int section_of(const Tensor& t) {
    const auto [place, fresh] = constants_.try_emplace({t.data(), t.bytes()});
    if (fresh) place->second = add_section(t.data(), t.bytes(), t.bytes() >= kLargeBytes);
    return place->second;
  }

  // Large original weights lie together, before what every run reads: a kernel maps files in steps of up to 2 MiB, and
  // weights that the plan holds packed are not to be in memory for their neighbours' sake.
  std::vector<flatbuffers::Offset<fb::Section>> lay_out_sections() {
    size_t end = file_.size();
    std::vector<size_t> offsets(bulk_.size());
    for (const bool original : {true, false})
      for (size_t i = 0; i < bulk_.size(); ++i) {
        if (bulk_[i].original != original) continue;
        offsets[i] = (end + kAlignment - 1) / kAlignment * kAlignment;
        end = offsets[i] + bulk_[i].bytes;
      }
    file_.resize(end);
    std::vector<flatbuffers::Offset<fb::Section>> sections;
    for (size_t i = 0; i < bulk_.size(); ++i) {
      const auto& [data, bytes, original] = bulk_[i];
      if (bytes) std::memcpy(file_.data() + offsets[i], data, bytes);
      sections.push_back(fb::CreateSection(fbb_, offsets[i], bytes, XXH3_64bits(data, bytes)));
    }
    return sections;
  }

  flatbuffers::Offset<fb::Tensor> write(const Tensor& t) {
    const auto dims = fbb_.CreateVector(t.dims());
    flatbuffers::Offset<flatbuffers::Vector<uint8_t>> bytes;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> strings;
    int section = -1;
    if (t.dtype() == DType::string) strings = fbb_.CreateVectorOfStrings(t.strings());
    else if (static_cast<int64_t>(t.bytes()) <= kInlineBytes) bytes = fbb_.CreateVector(t.as<uint8_t>(), t.bytes());
    else section = section_of(t);
    return fb::CreateTensor(fbb_, static_cast<uint8_t>(t.dtype()), dims, section, bytes, strings);
  }

  flatbuffers::Offset<fb::Attr> write(const std::string& name, const AttrValue& value) {
    std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
    if (const auto* t = std::get_if<Tensor>(&value)) tensors.push_back(write(*t));
    if (const auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (const Tensor& t : *list) tensors.push_back(write(t));
    std::string text;
    if (const auto* s = std::get_if<std::string>(&value)) text = *s;
    if (const auto* t = std::get_if<Type>(&value)) text = t->text();
    const auto* i = std::get_if<int64_t>(&value);
    const auto* d = std::get_if<double>(&value);
    const auto name_offset = fbb_.CreateString(name), s = fbb_.CreateString(text);
    flatbuffers::Offset<flatbuffers::Vector<int64_t>> is;
    flatbuffers::Offset<flatbuffers::Vector<double>> ds;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> ss;
    if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) is = fbb_.CreateVector(*v);
    if (const auto* v = std::get_if<std::vector<double>>(&value)) ds = fbb_.CreateVector(*v);
    if (const auto* v = std::get_if<std::vector<std::string>>(&value)) ss = fbb_.CreateVectorOfStrings(*v);
    const auto ts = fbb_.CreateVector(tensors);
    return fb::CreateAttr(fbb_, name_offset, static_cast<uint8_t>(value.index()), i ? *i : 0, d ? *d : 0, s, is, ds, ss,
                          ts);
  }

  flatbuffers::Offset<fb::Graph> write(const Graph& g) {
    std::vector<flatbuffers::Offset<fb::Value>> values;
    for (const Value& v : g.values) {
      const auto constant = v.constant.defined() ? write(v.constant) : flatbuffers::Offset<fb::Tensor>();
      values.push_back(fb::CreateValueDirect(fbb_, v.name.c_str(), v.type.text().c_str(), constant));
    }
    std::vector<flatbuffers::Offset<fb::Node>> nodes;
    for (const Node& n : g.nodes) {
      std::vector<flatbuffers::Offset<fb::Attr>> attrs;
      for (const auto& [name, value] : n.attrs) attrs.push_back(write(name, value));
      std::vector<flatbuffers::Offset<fb::Graph>> bodies;
      for (const auto& body : n.bodies) bodies.push_back(write(*body));
      // One after the other: the order of arguments is the compiler's, and would be the order in the file.
      const auto sources = fbb_.CreateVectorOfStrings(n.sources);
      const auto body_list = fbb_.CreateVector(bodies);
      const auto outputs = fbb_.CreateVector(n.outputs), inputs = fbb_.CreateVector(n.inputs);
      const auto attr_list = fbb_.CreateVector(attrs);
      const auto name = fbb_.CreateString(n.name), op = fbb_.CreateString(std::string(n.op->name));
      nodes.push_back(fb::CreateNode(fbb_, op, name, attr_list, inputs, outputs, body_list, n.captures, sources));
    }
    return fb::CreateGraphDirect(fbb_, &values, &nodes, &g.inputs, &g.outputs);
  }

  flatbuffers::Offset<fb::Plan> write(const Plan& plan) {
    std::vector<flatbuffers::Offset<fb::Packed>> packed;
    for (const PackedWeights& p : plan.packed)
      packed.push_back(
          fb::CreatePacked(fbb_, static_cast<uint8_t>(p.packing), add_section(p.bytes.data(), p.bytes.bytes())));
    std::vector<flatbuffers::Offset<fb::Step>> steps;
    for (size_t n = 0; n < plan.steps.size(); ++n) {
      const PlanStep& step = plan.steps[n];
      if (step.rows.empty() && step.bodies.empty()) continue;
      std::vector<flatbuffers::Offset<fb::Plan>> bodies;
      for (const auto& body : step.bodies) bodies.push_back(write(*body));
      const auto body_list = fbb_.CreateVector(bodies);
      const auto indices = fbb_.CreateVector(step.packed);
      const auto rows = fbb_.CreateVectorOfStrings(step.rows);
      steps.push_back(fb::CreateStep(fbb_, static_cast<int>(n), rows, indices, body_list));
    }
    const std::vector<std::string> drop(plan.limits.drop.begin(), plan.limits.drop.end());
    const auto drop_offset = fbb_.CreateVectorOfStrings(drop);
    const auto fingerprint = fbb_.CreateString(plan_fingerprint(plan));
    const auto device =
        plan.device.empty() ? flatbuffers::Offset<flatbuffers::String>() : fbb_.CreateString(plan.device);
    const auto packed_list = fbb_.CreateVector(packed);
    const auto step_list = fbb_.CreateVector(steps);
    return fb::CreatePlan(fbb_, fingerprint, plan.limits.threads, plan.limits.winograd, drop_offset, step_list,
                          packed_list, plan.limits.workspace_bytes, plan.limits.deterministic,
                          plan.limits.seconds_per_byte, plan.limits.fast, device, plan.limits.tf32,
                          plan.limits.providers);
  }

  flatbuffers::Offset<fb::Object> write(const codegen::ObjectCode& object) {
    const int section = add_section(object.blob.data(), object.blob.size());
    std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
    for (const auto& [hash, offset] : object.offsets) kernels.push_back(fb::CreateKernel(fbb_, hash, offset));
    return fb::CreateObjectDirect(fbb_, object.cpu_level.c_str(), section, &kernels);
  }

  std::vector<uint8_t> finish() {
    file_.resize((file_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const uint64_t offset = file_.size(), bytes = fbb_.GetSize();
    file_.insert(file_.end(), fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + bytes);
    const uint64_t hash = XXH3_64bits(file_.data() + offset, bytes), total = file_.size();
    const uint32_t version = kEngineVersion, flags = 0;
    std::memcpy(file_.data(), "TRINE\r\n\x1a", 8);
    std::memcpy(file_.data() + 8, &version, 4);
    std::memcpy(file_.data() + 12, &flags, 4);
    std::memcpy(file_.data() + 16, &offset, 8);
    std::memcpy(file_.data() + 24, &bytes, 8);
    std::memcpy(file_.data() + 32, &hash, 8);
    std::memcpy(file_.data() + 40, &total, 8);
    const uint64_t header_hash = XXH3_64bits(file_.data(), 48);
    std::memcpy(file_.data() + 48, &header_hash, 8);
    return std::move(file_);
  }

  const Engine::State& state_;
  std::vector<uint8_t> file_;
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<Bulk> bulk_;
  std::map<std::pair<const void*, size_t>, int> constants_;  // sections of them
};

}  // namespace

std::vector<uint8_t> write_engine(const Engine::State& state) { return Writer(state).run(); }

}  // namespace trine
