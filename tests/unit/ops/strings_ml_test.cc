// Strings, regular expressions, n-grams and ai.onnx.ml.
#include "ops/regex.h"
#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Integers = std::vector<int64_t>;
using Strings = std::vector<std::string>;

Tensor strings(const Strings& values) { return Tensor::of_strings({static_cast<int64_t>(values.size())}, values); }

TEST(Regex, Re2Syntax) {
  const struct {
    const char *pattern, *text;
    bool matches;
  } cases[] = {{"", "", true},
               {"a|bc", "bc", true},
               {"a|bc", "abc", false},
               {"(ab)*c?", "ababc", true},
               {"x{2,3}", "xx", true},
               {"x{2,3}", "xxxx", false},
               {"x{2,}", "xxxxx", true},
               {"x{0}", "", true},
               {"(x{2}){3}", "xxxxxx", true},
               {"[^a-c]+", "xyz", true},
               {"[]a]+", "]a", true},
               {"[[:digit:]x-]+", "3-x", true},
               {R"(\d+\.\w*)", "12.a_", true},
               {R"([\d\s]+)", "1 2", true},
               {"(?i)straße", "STRAßE", true},
               {"(?i:a)b", "Ab", true},
               {"(?i:a)b", "AB", false},
               {".", "é", true},
               {".", "\n", false},
               {"(?s).", "\n", true},
               {R"(\bfoo\b.*)", "foo bar", true},
               {R"(\x41\x{e9})", "Aé", true},
               {"^a$", "a", true},
               {R"(\Qa.b\E+)", "a.bb", true},
               {R"(\\Q)", "\\Q", true},
               {"(?P<n>a+)b", "aab", true},
               {"a{,2}", "a{,2}", true},
               {"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
               {"a??b", "ab", true},
               {"(?m)^a$\n^b$", "a\nb", true}};
  for (const auto& c : cases)
    EXPECT_EQ(Regex(c.pattern).full_match(c.text), c.matches) << c.pattern << " on " << c.text;
  for (const char* bad :
       {"(", ")", "[a", "*a", "a**", "[b-a]", "\\1", "(?=a)", "(?<!a)b", "x{3,2}", "x{1001}", "\\pL", "a\\"})
    EXPECT_THROW(Regex{bad}, Error) << bad;
  EXPECT_THROW(Regex("((((x{100}){100}){100}){100})"), Error);
}

TEST(StringSplit, SpacesDelimitersAndLimits) {
  const auto split = [](const char* text, const char* delimiter, int64_t most) {
    return run_op("string_split", {strings({text})},
                  attributes({{"delimiter", std::string(delimiter)}, {"maxsplit", most}}), 2)[0]
        .strings();
  };
  EXPECT_EQ(split(" a  b c ", "", -1), (Strings{"a", "b", "c"}));
  EXPECT_EQ(split(" a  b c ", "", 1), (Strings{"a", "b c "}));
  EXPECT_EQ(split("a,,b", ",", -1), (Strings{"a", "", "b"}));
  EXPECT_EQ(split("", "", -1), (Strings{}));
  const auto y = run_op("string_split", {strings({"a b", "c"})}, {}, 2);
  EXPECT_EQ(y[0].strings(), (Strings{"a", "b", "c", ""}));
  EXPECT_EQ(y[1].i64_values(), (Integers{2, 1}));
}

TEST(StringNormalizer, StopWordsAndCase) {
  const auto run = [](const Strings& words, const Attrs& attrs) {
    return run_op("string_normalizer", {strings(words)}, attrs)[0].strings();
  };
  EXPECT_EQ(run({"Monday", "ÉTÉ", "Straße"},
                attributes({{"case_change_action", std::string("LOWER")}, {"stopwords", Strings{"monday"}}})),
            (Strings{"été", "straße"}));
  EXPECT_EQ(run({"Monday"}, attributes({{"stopwords", Strings{"monday"}}, {"is_case_sensitive", int64_t{1}}})),
            (Strings{"Monday"}));
  EXPECT_EQ(run({"a"}, attributes({{"stopwords", Strings{"A"}}})), (Strings{""}));
}

TEST(TfIdf, SkipsAndWeights) {
  const Attrs attrs = attributes({{"mode", std::string("TFIDF")},
                                  {"min_gram_length", int64_t{2}},
                                  {"max_gram_length", int64_t{2}},
                                  {"max_skip_count", int64_t{1}},
                                  {"ngram_counts", Integers{0, 1}},
                                  {"ngram_indexes", Integers{0, 2, 1}},
                                  {"pool_int64s", Integers{5, 1, 2, 1, 3}},
                                  {"weights", std::vector<double>{1, 10, 100}}});
  expect_near(reals("tfidf_vectorizer", {i64s({1, 2, 3, 1, 2})}, attrs), {0, 100, 20});
}

TEST(LabelEncoder, NanAndRepeatedKeys) {
  const Attrs attrs =
      attributes({{"keys_floats", std::vector<double>{1, kNan, 1}}, {"values_strings", Strings{"a", "nan", "b"}}});
  EXPECT_EQ(run_op("label_encoder", {floats({1, kNan, 7})}, attrs)[0].strings(), (Strings{"b", "nan", "_Unused"}));
}

TEST(LinearClassifier, OneScoreForTwoClasses) {
  const auto y = run_op("linear_classifier", {floats({2, 1}, {1, -1})},
                        attributes({{"coefficients", std::vector<double>{2}},
                                    {"intercepts", std::vector<double>{0.5}},
                                    {"classlabels_strings", Strings{"no", "yes"}},
                                    {"post_transform", std::string("LOGISTIC")}}),
                        2);
  EXPECT_EQ(y[0].strings(), (Strings{"yes", "no"}));
  const double p = 1 / (1 + std::exp(-2.5));
  const double q = 1 / (1 + std::exp(1.5));
  expect_near(y[1].f64_values(), {1 - p, p, 1 - q, q}, 1e-6);
}

TEST(TreeEnsembleRegressor, HostileTreesAreErrors) {
  const auto run = [](const Integers& yes, int64_t feature) {
    return run_op("tree_ensemble_regressor", {floats({1, 1}, {0.25f})},
                  attributes({{"n_targets", int64_t{1}},
                              {"nodes_treeids", Integers{0, 0, 0}},
                              {"nodes_nodeids", Integers{0, 1, 2}},
                              {"nodes_featureids", Integers{feature, 0, 0}},
                              {"nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "LEAF"}},
                              {"nodes_values", std::vector<double>{0.5, 0, 0}},
                              {"nodes_truenodeids", yes},
                              {"nodes_falsenodeids", Integers{2, 0, 0}},
                              {"target_treeids", Integers{0, 0}},
                              {"target_nodeids", Integers{1, 2}},
                              {"target_ids", Integers{0, 0}},
                              {"target_weights", std::vector<double>{3, 4}}}))[0]
        .f64_values();
  };
  EXPECT_EQ(run({1, 0, 0}, 0), (std::vector<double>{3}));
  EXPECT_THROW(run({0, 0, 0}, 0), Error);  // its own child
  EXPECT_THROW(run({7, 0, 0}, 0), Error);
  EXPECT_THROW(run({1, 0, 0}, 9), Error);  // x has one feature
  EXPECT_THROW(run({1, 0, 0}, -1), Error);
}

}  // namespace
}  // namespace trine
