// OpDef::types: the checker, and that every operator says something about each of its inputs.
#include "graph/operand_types.h"

#include <gtest/gtest.h>

#include <sstream>

#include "graph/op_def.h"

namespace trine {
namespace {

std::string problem(std::string_view types, const std::vector<DType>& operands) {
  return operand_problem(types, static_cast<int>(operands.size()), [&](int i) {
    const DType dtype = operands[static_cast<size_t>(i)];
    return dtype == DType::none ? Operand{} : Operand{Type::Kind::tensor, dtype};
  });
}

TEST(OperandTypes, VariablesAndSets) {
  EXPECT_EQ(problem("Tf T T", {DType::f32, DType::f32, DType::f32}), "");
  EXPECT_EQ(problem("Tf T T", {DType::f32, DType::none, DType::f64}),
            "inputs 0 and 2 are f32 and f64; they must have the same type");
  EXPECT_EQ(problem("Tf T", {DType::i8, DType::i8}), "input 0 is i8; accepted: f16, bf16, f32, f64");
  EXPECT_EQ(problem("T", {DType::c128}), "");
  EXPECT_EQ(problem("Ti Uf U T", {DType::u8, DType::f32, DType::f32, DType::i8}),
            "inputs 0 and 3 are u8 and i8; they must have the same type");
  EXPECT_EQ(problem("a x", {DType::string, DType::u32}), "input 1 is u32; accepted: i32, i64");
  EXPECT_EQ(problem("fe", {DType::f8e8m0}), "");
}

TEST(OperandTypes, WideBiasOfNarrowProducts) {
  EXPECT_EQ(problem("Tf T Tw", {DType::bf16, DType::bf16, DType::f32}), "");
  EXPECT_EQ(problem("Tf T Tw", {DType::f16, DType::f16, DType::f16}), "");
  for (DType product : {DType::f64, DType::f16})
    for (DType bias : {DType::f32, DType::f64, DType::bf16})
      EXPECT_EQ(problem("Tf T Tw", {product, product, bias}).empty(),
                product == bias || (product == DType::f16 && bias == DType::f32));
}

TEST(OperandTypes, RepeatedWords) {
  EXPECT_EQ(problem("T ...", {DType::i8, DType::i8, DType::i8}), "");
  EXPECT_EQ(problem("T ...", {DType::i8, DType::i8, DType::u8}),
            "inputs 0 and 2 are i8 and u8; they must have the same type");
  EXPECT_EQ(problem("b ? ...", {DType::boolean, DType::i8, DType::u8}), "");
  EXPECT_EQ(problem("b", {DType::boolean, DType::i8}), "");  // captures of a body
}

TEST(OperandTypes, SequencesAreNoTensors) {
  const auto sequence = [](int) { return Operand{Type::Kind::sequence, DType::none}; };
  EXPECT_EQ(operand_problem("a", 1, sequence), "input 0 is a sequence; it must be a tensor");
  EXPECT_EQ(operand_problem("?", 1, sequence), "");
}

bool is_word(const std::string& word) {
  const bool variable = word[0] >= 'A' && word[0] <= 'Z';
  if (variable && word.substr(1) == "w") return true;
  return word.find_first_not_of("fhilxbsqeca", variable ? 1 : 0) == word.npos;
}

TEST(OperandTypes, EveryInputHasAWord) {
  for (const OpDef* op : all_ops()) {
    std::istringstream stream(op->types);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    const bool repeats = !words.empty() && words.back() == "...";
    EXPECT_TRUE(repeats || static_cast<int>(words.size()) == op->max_inputs) << op->name << ": " << op->types;
    for (const std::string& word : words)
      EXPECT_TRUE(word == "..." || word == "?" || is_word(word)) << op->name << ": " << op->types;
  }
}

}  // namespace
}  // namespace trine
