// Folds and data movement: every row runs in the interpreter against the reference, and as machine code against the
// interpreter.
#include "compiled.h"
#include "rows.h"

namespace trine {
namespace {

using namespace test;

void run(const Row& row) {
  SCOPED_TRACE(row.inputs + " | " + row.nodes);
  const RowGraph graph = graph_of(row);
  expect_matches(graph.text, graph.inputs, row.tolerance);
  static int rows = 0;  // compiling takes most of the time: other levels than the machine's own take turns
  if (!::testing::Test::HasFailure()) expect_compiled_equals_interpreted(graph.text, graph.inputs, rows++ % 8 == 0);
}

void run_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) run(row);
}

TEST(Folds, SoftmaxOverEveryAxisAndSize) {
  for (const char* dims : {"1,1", "3,1", "1,7", "5,31", "4,32", "7,33", "3,128", "2,515", "2,1030", "0,5", "6,2"}) {
    for (const char* axis : {"0", "1"}) {
      run({std::string("f32[") + dims + "]", std::string("%r = softmax %x {axis=") + axis + "}"});
      run({std::string("f32[") + dims + "]", std::string("%r = log_softmax %x {axis=") + axis + "}"});
    }
  }
  for (const char* axis : {"0", "1", "2", "3"})
    run({"f32[2,5,3,11]", std::string("%r = softmax %x {axis=") + axis + "}"});
}

TEST(Folds, ReductionsOverEveryAxis) {
  for (const char* op :
       {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l2", "reduce_log_sum_exp"}) {
    for (const char* axes :
         {"i64[1]{0}", "i64[1]{1}", "i64[1]{2}", "i64[2]{0,1}", "i64[2]{0,2}", "i64[2]{1,2}", "i64[3]{0,1,2}"}) {
      for (const char* keep : {"0", "1"}) {
        run({"f32[4,7,37]", std::string("%a = const ") + axes + ";%r = " + op + " %x %a {keepdims=" + keep + "}"});
      }
    }
  }
  for (const char* type : {"f64", "i32", "i64"}) {
    run({std::string(type) + "[5,67]", "%a = const i64[1]{1};%r = reduce_sum %x %a {keepdims=0}", 1e-12});
    run({std::string(type) + "[5,67]", "%a = const i64[1]{0};%r = reduce_max %x %a {keepdims=0}", 0});
  }
}

TEST(Folds, Normalisations) { run_all(normalisation_rows()); }
TEST(Folds, FusedWithTheirNeighbours) { run_all(fused_fold_rows()); }
TEST(Movement, TransposesAndViews) { run_all(view_rows()); }
TEST(Movement, PadsSlicesConcats) { run_all(pad_slice_concat_rows()); }

TEST(Movement, QuantisedTypes) {
  run({"f32[4,65]",
       "%s = const f32[]{0.5};%z = const u8[]{3};%a = quantize_linear %x %s %z;"
       "%r = dequantize_linear %a %s %z",
       1e-6});
  run({"f32[4,65]", "%r = arg_max %x {axis=1, keepdims=0}", 0});
}

}  // namespace
}  // namespace trine
