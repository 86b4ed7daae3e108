// Cutting ONNX files, for `trine reduce`.
#include "trine/onnx_edit.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <random>

#include "trine/base/error.h"

namespace trine::cli {
namespace {

void add_node(protozero::pbf_writer& graph, const char* op, const std::vector<std::string>& in, const std::string& out,
              const std::string& body = "") {
  protozero::pbf_writer node(graph, 1);
  for (const auto& name : in) node.add_string(1, name);
  node.add_string(2, out);
  node.add_string(4, op);
  if (body.empty()) return;
  protozero::pbf_writer attribute(node, 5);
  attribute.add_string(1, "then_branch");
  attribute.add_message(6, body);
}

void add_named(protozero::pbf_writer& graph, uint32_t field, const std::string& name, uint32_t name_field = 1) {
  protozero::pbf_writer(graph, field).add_string(name_field, name);
}

// x -> Relu -> a; a, w -> Mul -> b; If (its body reads a) -> c; b, c -> Add -> y
std::vector<uint8_t> sample() {
  std::string body;
  {
    protozero::pbf_writer writer(body);
    add_node(writer, "Neg", {"a"}, "inner");
    add_named(writer, 12, "inner");
  }
  std::string model;
  {
    protozero::pbf_writer writer(model);
    writer.add_int64(1, 8);
    protozero::pbf_writer graph(writer, 7);
    add_node(graph, "Relu", {"x"}, "a");
    add_node(graph, "Mul", {"a", "w"}, "b");
    add_node(graph, "If", {"condition"}, "c", body);
    add_node(graph, "Add", {"b", "c"}, "y");
    graph.add_string(2, "sample");
    add_named(graph, 5, "w", 8);
    for (const char* name : {"x", "condition"}) add_named(graph, 11, name);
    add_named(graph, 12, "y");
  }
  return {model.begin(), model.end()};
}

OnnxFile parsed(const std::string& bytes) { return OnnxFile::parse({bytes.begin(), bytes.end()}, "cut.onnx"); }

TEST(OnnxEdit, reads_nodes_and_what_bodies_take_from_outside) {
  const OnnxFile file = OnnxFile::parse(sample(), "sample.onnx");
  ASSERT_EQ(file.nodes().size(), 4u);
  EXPECT_EQ(file.nodes()[1].inputs, (std::vector<std::string>{"a", "w"}));
  EXPECT_EQ(file.nodes()[2].inputs, (std::vector<std::string>{"condition", "a", "inner"}));
  EXPECT_EQ(file.output_names(), std::set<std::string>{"y"});
  EXPECT_FALSE(file.has_external_data());
}

TEST(OnnxEdit, keeping_all_keeps_all) {
  const OnnxFile file = OnnxFile::parse(sample(), "sample.onnx");
  const std::string bytes = file.cut({0, 1, 2, 3}, {"y"}, {});
  EXPECT_EQ(parsed(bytes).nodes().size(), 4u);
  EXPECT_NE(bytes.find("condition"), std::string::npos);
}

TEST(OnnxEdit, what_is_not_made_any_more_becomes_an_input_of_its_type) {
  const OnnxFile file = OnnxFile::parse(sample(), "sample.onnx");
  const std::string bytes = file.cut({3}, {"y"}, {{"b", Type::parse("f32[2,3]")}});
  const OnnxFile cut = parsed(bytes);
  ASSERT_EQ(cut.nodes().size(), 1u);
  EXPECT_EQ(cut.nodes()[0].op, "Add");
  // Name "b", then its type: tensor of f32, dimensions 2 and 3.
  const std::string info("\x0a\x01\x62\x12\x0e\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08\x02\x0a\x02\x08\x03", 19);
  EXPECT_NE(bytes.find(info), std::string::npos);
  EXPECT_EQ(bytes.find("condition"), std::string::npos) << "an input nobody reads";
}

TEST(OnnxEdit, damaged_bytes_are_errors) {
  const auto good = sample();
  EXPECT_THROW(OnnxFile::parse({}, "empty"), Error);
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  for (int i = 0; i < 3000; ++i) {
    auto bytes = good;
    bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    try {
      OnnxFile::parse(bytes, "damaged").cut({0}, {"a"}, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_model) << "seed " << seed << " round " << i;
    }
  }
}

}  // namespace
}  // namespace trine::cli
