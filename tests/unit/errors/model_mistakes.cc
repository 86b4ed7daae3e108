// ONNX files that are none, are damaged, break the rules, or ask for what is not there.
#include "import/onnx/import.h"
#include "model_builder.h"
#include "provoke.h"

namespace trine::test {
namespace {

const Bytes kX = value_info("x", kFloat, {"N", "2"});
const Bytes kY = value_info("y", kFloat, {"N", "2"});
const NodeText kRelu{.op = "Relu", .inputs = {"x"}, .outputs = {"y"}, .name = "act"};

void import_bytes(const Bytes& bytes) { import_onnx_bytes(bytes, {.name = "m.onnx"}); }

// A model of one Relu, changed by `change`.
std::function<void()> changed(const std::function<void(ModelText&)>& change) {
  return [change] {
    ModelText text{.graph = {{kRelu}, {kX}, {kY}}};
    change(text);
    import_bytes(model(text));
  };
}

std::function<void()> nodes(const std::vector<NodeText>& list, const std::vector<Bytes>& initializers = {}) {
  return changed([=](ModelText& m) {
    m.graph.nodes = list;
    m.graph.initializers = initializers;
  });
}

}  // namespace

std::vector<Mistake> model_mistakes() {
  const auto initializer = [](const Bytes& tensor) { return nodes({kRelu}, {tensor}); };
  return {
      {"model.no_file", [] { import_onnx("missing.onnx"); }},
      {"model.folder", [] { import_onnx("."); }},
      {"model.empty", [] { import_bytes(""); }},
      {"model.html", [] { import_bytes("<html>"); }},
      {"model.git_lfs", [] { import_bytes("version https://git-lfs.github.com/spec/v1\noid"); }},
      {"model.no_graph", [] { import_bytes(Bytes("\x08\x08", 2)); }},
      {"model.truncated", [] { import_bytes(model({.graph = {{kRelu}, {kX}, {kY}}}).substr(0, 40)); }},
      {"model.opset", changed([](ModelText& m) { m.opset = 999; })},
      {"model.ir_version", changed([](ModelText& m) { m.ir_version = 99; })},
      {"model.elem_type", changed([](ModelText& m) { m.graph.inputs = {value_info("x", 999, {"2"})}; })},
      {"model.negative_size", changed([](ModelText& m) { m.graph.inputs = {value_info("x", kFloat, {"2", "-7"})}; })},
      {"model.rank",
       changed([](ModelText& m) { m.graph.inputs = {value_info("x", kFloat, std::vector<std::string>(60, "1"))}; })},
      {"model.map_input",
       changed([](ModelText& m) { m.graph.inputs = {Bytes("\x0a\x01x\x12\x04\x2a\x02\x08\x07", 9)}; })},
      {"model.input_twice", changed([](ModelText& m) { m.graph.inputs = {kX, kX}; })},
      {"model.output_unmade", changed([](ModelText& m) { m.graph.outputs = {value_info("gone", kFloat, {})}; })},
      {"model.initializer_twice", nodes({kRelu}, {float_tensor("w", {}, {1}), float_tensor("w", {}, {1})})},
      {"model.too_few_bytes", initializer(raw_tensor("w", kFloat, {2, 3}, "12345678"))},
      {"model.too_few_values", initializer(float_tensor("w", {4}, {1, 2}))},
      {"model.too_many_elements", initializer(raw_tensor("w", kFloat, {1LL << 40, 1LL << 40}, ""))},
      {"model.external_without_folder", initializer(external_tensor("w", {2}, {{"location", "weights.bin"}}))},
      {"model.external_climbs",
       [] {
         const Bytes w = external_tensor("w", {2}, {{"location", "../weights.bin"}});
         import_onnx_bytes(model({.graph = {{kRelu}, {kX}, {kY}, {w}}}), {.name = "m.onnx"}, ".");
       }},
      {"model.external_missing",
       [] {
         const Bytes w = external_tensor("w", {2}, {{"location", "missing.bin"}});
         import_onnx_bytes(model({.graph = {{kRelu}, {kX}, {kY}, {w}}}), {.name = "m.onnx"}, ".");
       }},
      {"model.cycle", nodes({{.op = "Add", .inputs = {"x", "b"}, .outputs = {"a"}, .name = "one"},
                             {.op = "Neg", .inputs = {"a"}, .outputs = {"b"}, .name = "two"}})},
      {"model.output_twice", nodes({kRelu, {.op = "Neg", .inputs = {"x"}, .outputs = {"y"}, .name = "again"}})},
      {"model.unmade_input", nodes({{.op = "Relu", .inputs = {"nowhere"}, .outputs = {"y"}, .name = "act"}})},
      {"model.unknown_operators",
       nodes({{.op = "Frobnicate", .inputs = {"x"}, .outputs = {"a"}, .name = "n1"},
              {.op = "Blend", .inputs = {"x", "", "x"}, .outputs = {"y"}, .name = "n2", .domain = "my.own"}})},
      {"model.too_many_inputs", nodes({{.op = "Relu", .inputs = {"x", "x"}, .outputs = {"y"}, .name = "act"}})},
      {"model.attribute_twice", nodes({{.op = "Softmax",
                                        .inputs = {"x"},
                                        .outputs = {"y"},
                                        .attributes = {int_attribute("axis", 0), int_attribute("axis", 1)},
                                        .name = "soft"}})},
      {"model.attribute_kind", nodes({{.op = "Softmax",
                                       .inputs = {"x"},
                                       .outputs = {"y"},
                                       .attributes = {string_attribute("axis", "last")},
                                       .name = "soft"}})},
      {"model.attribute_unknown", nodes({{.op = "Softmax",
                                          .inputs = {"x"},
                                          .outputs = {"y"},
                                          .attributes = {int_attribute("axes", 1)},
                                          .name = "soft"}})},
      {"model.attribute_of_none", nodes({{.op = "Relu",
                                          .inputs = {"x"},
                                          .outputs = {"y"},
                                          .attributes = {int_attribute("inplace", 1)},
                                          .name = "act"}})},
      {"model.attribute_outdated", nodes({{.op = "Clip",
                                           .inputs = {"x"},
                                           .outputs = {"y"},
                                           .attributes = {float_attribute("max", 6)},
                                           .name = "clip"}})},
      {"model.attribute_missing", nodes({{.op = "Cast", .inputs = {"x"}, .outputs = {"y"}, .name = "cast"}})},
      {"model.attribute_for_list", nodes({{.op = "MaxPool",
                                           .inputs = {"x"},
                                           .outputs = {"y"},
                                           .attributes = {int_attribute("kernel_shape", 2)},
                                           .name = "pool"}})},
      {"model.axis", nodes({{.op = "Softmax",
                             .inputs = {"x"},
                             .outputs = {"y"},
                             .attributes = {int_attribute("axis", 5)},
                             .name = "soft"}})},
      {"model.constant_without_value", nodes({{.op = "Constant", .inputs = {}, .outputs = {"y"}, .name = "k"}})},
      {"model.matmul_shapes", nodes({{.op = "MatMul", .inputs = {"x", "w"}, .outputs = {"y"}, .name = "fc"}},
                                    {float_tensor("w", {3, 1}, {1, 2, 3})})},
      {"model.broadcast", nodes({{.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}, .name = "bias"}},
                                {float_tensor("w", {3}, {1, 2, 3})})},
      {"model.mixed_types", nodes({{.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}, .name = "bias"}},
                                  {int64_tensor("w", {2}, {1, 2})})},
      {"model.function_calls_itself", changed([](ModelText& m) {
         const NodeText call{.op = "F", .inputs = {"x"}, .outputs = {"y"}, .domain = "my"};
         m.graph.nodes = {call};
         m.functions = {{"F", "my", {"x"}, {"y"}, {}, {call}}};
       })},
  };
}

}  // namespace trine::test
