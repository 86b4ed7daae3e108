// The attributes that operators have: by version, by kind, and each operator of the table exists.
#include <gtest/gtest.h>

#include "graph/op_def.h"
#include "import/onnx/attribute_table.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

std::string error_of(std::string_view op, int64_t version, std::string_view name, char kind) {
  try {
    check_attribute(op, version, name, kind);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Attributes, KnownByVersion) {
  EXPECT_EQ(error_of("Clip", 6, "max", 'f'), "");
  EXPECT_EQ(error_of("Clip", 11, "max", 'f'), "attribute 'max' is not known since version 11; accepted: none");
  EXPECT_EQ(error_of("Split", 12, "split", 'I'), "");
  EXPECT_EQ(error_of("Split", 13, "split", 'I'),
            "attribute 'split' is not known since version 13; accepted: axis, num_outputs");
  EXPECT_EQ(error_of("com.microsoft:QLinearConcat", 1, "axis", 'i'), "");
}

TEST(Attributes, KnownByKind) {
  EXPECT_EQ(error_of("Conv", 22, "pads", 'I'), "");
  EXPECT_EQ(error_of("Conv", 22, "pads", 'F'),
            "attribute 'pads' is a list of real numbers; it must be a list of integers");
  EXPECT_EQ(error_of("If", 22, "then_branch", 't'), "attribute 'then_branch' is a tensor; it must be a graph");
}

TEST(Attributes, OtherOperatorsAreNotJudged) {
  EXPECT_EQ(error_of("Frobnicate", 22, "a", 'i'), "");
  EXPECT_EQ(error_of("Relu", 22, "a", 'i'), "attribute 'a' is not known; accepted: none");
}

TEST(Attributes, RequiredByVersion) {
  const auto none = [](std::string_view) { return false; };
  EXPECT_THROW(check_complete("TopK", 9, none), Error);
  EXPECT_NO_THROW(check_complete("TopK", 10, none));
  EXPECT_THROW(check_complete("Cast", 22, none), Error);
}

TEST(Attributes, EveryRowIsAnOperator) {
  for (std::string_view op : operators_with_attributes())
    EXPECT_TRUE(find_onnx_op(op) || op == "Scatter" || op == "Upsample") << op;  // the two are rewritten
}

}  // namespace
}  // namespace trine::onnx
