// TreeEnsemble: interior nodes and leaves in separate attribute lists. TreeEnsembleRegressor, TreeEnsembleClassifier:
// the older form, nodes named by (tree id, node id) with leaves among them.
#include <algorithm>
#include <cmath>
#include <map>

#include "ops/ml/post_transform.h"
#include "ops/ml/trees.h"

namespace trine::ml {
namespace {

template <class C, class T>
const T& entry(const C& c, const std::vector<T>& list, size_t i, const char* name) {
  if (i >= list.size()) c.fail(std::string(name) + " has " + std::to_string(list.size()) + " entries; too few");
  return list[i];
}

int64_t target_count(const InferContext& c) {
  const int64_t n = c.attrs().integer("n_targets", 1);
  if (n < 1 || n > (1 << 24)) c.fail("n_targets is " + std::to_string(n) + "; it must be >= 1");
  return n;
}

std::vector<double> tensor_values(const Attrs& attrs, const char* name) {
  const Tensor* t = attrs.tensor(name);
  return t ? t->f64_values() : std::vector<double>();
}

// Nodes 0 .. n-1 are the interior ones, leaf k follows as node n + k.
Forest forest_of(const EvalContext& c) {
  const Attrs& a = c.attrs();
  const auto modes = tensor_values(a, "nodes_modes"), splits = tensor_values(a, "nodes_splits");
  const auto weights = tensor_values(a, "leaf_weights"), members = tensor_values(a, "membership_values");
  const auto features = a.integers("nodes_featureids"), yes = a.integers("nodes_truenodeids"),
             no = a.integers("nodes_falsenodeids");
  const auto yes_leaf = a.integers("nodes_trueleafs"), no_leaf = a.integers("nodes_falseleafs");
  const auto nan_true = a.integers("nodes_missing_value_tracks_true"), targets = a.integers("leaf_targetids");
  const auto interior = static_cast<int64_t>(modes.size()), leaves = static_cast<int64_t>(weights.size());
  const auto child = [&](int64_t id, int64_t is_leaf) {
    if (id < 0 || id >= (is_leaf ? leaves : interior)) c.fail("child " + std::to_string(id) + " does not exist");
    return is_leaf ? interior + id : id;
  };
  Forest forest;
  size_t member = 0;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (!(modes[i] >= 0 && modes[i] <= 6)) c.fail("a node mode is outside [0, 6]");
    Forest::Node n;
    n.mode = static_cast<Forest::Mode>(static_cast<int>(modes[i]));
    n.feature = entry(c, features, i, "nodes_featureids");
    n.split = entry(c, splits, i, "nodes_splits");
    n.nan_is_true = !nan_true.empty() && entry(c, nan_true, i, "nodes_missing_value_tracks_true") != 0;
    n.yes = child(entry(c, yes, i, "nodes_truenodeids"), entry(c, yes_leaf, i, "nodes_trueleafs"));
    n.no = child(entry(c, no, i, "nodes_falsenodeids"), entry(c, no_leaf, i, "nodes_falseleafs"));
    if (n.mode == Forest::Mode::member) {
      for (; member < members.size() && !std::isnan(members[member]); ++member) n.members.insert(members[member]);
      ++member;  // the NaN between two sets
    }
    forest.nodes.push_back(std::move(n));
  }
  for (int64_t k = 0; k < leaves; ++k) {
    Forest::Node leaf;
    leaf.first = k;
    leaf.last = k + 1;
    forest.nodes.push_back(leaf);
    const auto i = static_cast<size_t>(k);
    forest.votes.push_back({entry(c, targets, i, "leaf_targetids"), weights[i]});
  }
  forest.roots = a.integers("tree_roots");
  return forest;
}

// Scores of every row, [N, targets], post-transformed.
std::vector<double> forest_scores(const EvalContext& c, const Forest& forest, Aggregate how, PostTransform post,
                                  const std::vector<double>& base, size_t targets) {
  const Rows x(c, 0);
  if (x.features < forest.features)
    c.fail("x has " + std::to_string(x.features) + " features, the trees use " + std::to_string(forest.features));
  if (!base.empty() && base.size() != targets && base.size() != 1)
    c.fail(std::to_string(base.size()) + " base_values for " + std::to_string(targets) + " targets");
  std::vector<double> all, row(targets);
  for (int64_t n = 0; n < x.count; ++n) {
    evaluate(forest, how, base, x.row(n), row);
    apply(post, row.data(), targets);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

void infer_tree_ensemble(InferContext& c) { c.set(0, c.dtype(0), {row_count(c), Dim(target_count(c))}); }

void tree_ensemble_reference(EvalContext& c) {
  const int64_t targets = c.attrs().integer("n_targets", 1), how = c.attrs().integer("aggregate_function", 1);
  const int64_t post = c.attrs().integer("post_transform", 0);
  if (targets < 1 || how < 0 || how > 3 || post < 0 || post > 4)
    c.fail("n_targets must be >= 1, aggregate_function in [0, 3], post_transform in [0, 4]");
  Forest forest = forest_of(c);
  forest.check(targets);
  const auto scores = forest_scores(c, forest, static_cast<Aggregate>(how), static_cast<PostTransform>(post), {},
                                    static_cast<size_t>(targets));
  c.set(0, Tensor::from_f64(c.tensor(0).dtype(), {static_cast<int64_t>(scores.size()) / targets, targets}, scores));
}

const OpDef kTreeEnsemble = {.name = "tree_ensemble",
                             .onnx = "ai.onnx.ml:TreeEnsemble",
                             .doc = "aggregated leaf weights of decision trees",
                             .types = "f",
                             .infer = infer_tree_ensemble,
                             .reference = tree_ensemble_reference};
const RegisterOp kRegisterTreeEnsemble(kTreeEnsemble);

Forest::Mode mode_of(const EvalContext& c, const std::string& name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (int i = 0; i < 8; ++i)
    if (name == kNames[i] && i != 6) return static_cast<Forest::Mode>(i);
  c.fail("node mode '" + name + "'; one of BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, LEAF");
}

using NodeKey = std::pair<int64_t, int64_t>;  // tree id, node id

// `votes`: "class" or "target", the prefix of the attributes that hold the leaves' votes.
Forest old_forest_of(const EvalContext& c, const std::string& votes) {
  const Attrs& a = c.attrs();
  const auto trees = a.integers("nodes_treeids"), ids = a.integers("nodes_nodeids"),
             features = a.integers("nodes_featureids");
  const auto yes = a.integers("nodes_truenodeids"), no = a.integers("nodes_falsenodeids");
  const auto nan_true = a.integers("nodes_missing_value_tracks_true");
  const auto modes = a.strings("nodes_modes");
  const auto splits = numbers(a, "nodes_values");
  Forest forest;
  std::map<NodeKey, int64_t> place;
  std::set<int64_t> seen;
  for (size_t i = 0; i < modes.size(); ++i) {
    const NodeKey key{entry(c, trees, i, "nodes_treeids"), entry(c, ids, i, "nodes_nodeids")};
    if (!place.emplace(key, static_cast<int64_t>(i)).second) c.fail("a node id comes twice in one tree");
    if (seen.insert(trees[i]).second) forest.roots.push_back(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < modes.size(); ++i) {
    Forest::Node n;
    n.mode = mode_of(c, modes[i]);
    if (n.mode != Forest::Mode::leaf) {
      n.feature = entry(c, features, i, "nodes_featureids");
      n.split = entry(c, splits, i, "nodes_values");
      n.nan_is_true = !nan_true.empty() && entry(c, nan_true, i, "nodes_missing_value_tracks_true") != 0;
      const auto t = place.find({trees[i], entry(c, yes, i, "nodes_truenodeids")});
      const auto f = place.find({trees[i], entry(c, no, i, "nodes_falsenodeids")});
      if (t == place.end() || f == place.end()) c.fail("a child of node " + std::to_string(ids[i]) + " does not exist");
      n.yes = t->second;
      n.no = f->second;
    }
    forest.nodes.push_back(std::move(n));
  }
  std::map<int64_t, std::vector<Forest::Vote>> by_node;
  const auto vote_trees = a.integers(votes + "_treeids"), vote_nodes = a.integers(votes + "_nodeids"),
             targets = a.integers(votes + "_ids");
  const auto weights = numbers(a, votes + "_weights");
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto at = place.find({entry(c, vote_trees, i, "vote tree ids"), entry(c, vote_nodes, i, "vote node ids")});
    if (at == place.end()) c.fail("a vote names a node that does not exist");
    by_node[at->second].push_back({targets[i], entry(c, weights, i, "vote weights")});
  }
  for (const auto& [node, list] : by_node) {
    Forest::Node& leaf = forest.nodes[static_cast<size_t>(node)];
    leaf.first = static_cast<int64_t>(forest.votes.size());
    forest.votes.insert(forest.votes.end(), list.begin(), list.end());
    leaf.last = static_cast<int64_t>(forest.votes.size());
  }
  return forest;
}

void infer_tree_regressor(InferContext& c) { c.set(0, DType::f32, {row_count(c), Dim(target_count(c))}); }

void tree_regressor_reference(EvalContext& c) {
  const int64_t targets = c.attrs().integer("n_targets", 1);
  const std::string how = c.attrs().string("aggregate_function", "SUM");
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), how);
  if (found == std::end(kNames) || targets < 1)
    c.fail("aggregate_function '" + how + "'; one of AVERAGE, SUM, MIN, MAX");
  Forest forest = old_forest_of(c, "target");
  forest.check(targets);
  const auto scores = forest_scores(c, forest, static_cast<Aggregate>(found - kNames),
                                    post_transform_from(c.attrs().string("post_transform", "NONE")),
                                    numbers(c.attrs(), "base_values"), static_cast<size_t>(targets));
  c.set(0, Tensor::from_f64(DType::f32, {static_cast<int64_t>(scores.size()) / targets, targets}, scores));
}

const OpDef kTreeRegressor = {.name = "tree_ensemble_regressor",
                              .onnx = "ai.onnx.ml:TreeEnsembleRegressor",
                              .doc = "aggregated leaf weights of decision trees, plus base values",
                              .types = "fi",
                              .infer = infer_tree_regressor,
                              .reference = tree_regressor_reference};
const RegisterOp kRegisterTreeRegressor(kTreeRegressor);

Labels class_labels(const Attrs& attrs) { return Labels(attrs, "classlabels_int64s", "classlabels_strings"); }

void infer_tree_classifier(InferContext& c) {
  const Labels labels = class_labels(c.attrs());
  const Dim rows = row_count(c);
  c.set(0, labels.dtype(), {rows});
  c.set(1, DType::f32, {rows, Dim(static_cast<int64_t>(std::max<size_t>(labels.count(), 1)))});
}

// Two classes whose votes all go to one id: one score s, for the second class. Written as (1-s, s) when no weight is
// negative (s is a probability, 0.5 decides), else (-s, s) (0 decides).
struct Binary {
  bool is = false, all_positive = true;

  Binary(const Forest& forest, const std::vector<double>& base, size_t classes) {
    std::set<int64_t> ids;
    for (const Forest::Vote& v : forest.votes) {
      ids.insert(v.target);
      all_positive = all_positive && v.weight >= 0;
    }
    for (double b : base) all_positive = all_positive && b >= 0;
    is = classes == 2 && ids.size() == 1;
  }
};

void tree_classifier_reference(EvalContext& c) {
  const Labels labels = class_labels(c.attrs());
  const size_t classes = std::max<size_t>(labels.count(), 1);
  const auto base = numbers(c.attrs(), "base_values");
  Forest forest = old_forest_of(c, "class");
  forest.check(static_cast<int64_t>(classes));
  const Binary binary(forest, base, classes);
  const PostTransform post = post_transform_from(c.attrs().string("post_transform", "NONE"));
  auto scores = forest_scores(c, forest, Aggregate::sum, PostTransform::none, base, classes);
  std::vector<int64_t> chosen;
  for (size_t at = 0; at < scores.size(); at += classes) {
    double* row = &scores[at];
    if (!binary.is) {
      chosen.push_back(argmax(row, classes));
      apply(post, row, classes);
      continue;
    }
    const auto id = static_cast<size_t>(forest.votes[0].target);
    const double s = row[id];
    chosen.push_back(s > (binary.all_positive ? 0.5 : 0) ? 1 : 0);
    row[0] = binary.all_positive ? 1 - s : -s;
    row[1] = s;
    if (!binary.all_positive || post == PostTransform::probit) apply(post, row, classes);
  }
  const auto rows = static_cast<int64_t>(scores.size() / classes);
  c.set(0, labels.of(chosen));
  c.set(1, Tensor::from_f64(DType::f32, {rows, static_cast<int64_t>(classes)}, scores));
}

const OpDef kTreeClassifier = {.name = "tree_ensemble_classifier",
                               .onnx = "ai.onnx.ml:TreeEnsembleClassifier",
                               .doc = "label and class scores of decision trees",
                               .types = "fi",
                               .max_outputs = 2,
                               .infer = infer_tree_classifier,
                               .reference = tree_classifier_reference};
const RegisterOp kRegisterTreeClassifier(kTreeClassifier);

}  // namespace
}  // namespace trine::ml
