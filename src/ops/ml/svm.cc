// SVMRegressor, SVMClassifier: kernel machines as libsvm writes them (one against one, Platt probabilities), or linear
// ones when there are no support vectors. Source: Chang & Lin, "LIBSVM" (2011); Wu, Lin & Weng (2004), method 2.
#include <algorithm>
#include <cmath>

#include "ops/ml/post_transform.h"

namespace trine::ml {
namespace {

struct Kernel {
  std::string type;
  double gamma = 0, offset = 0, degree = 0;

  explicit Kernel(const EvalContext& c) : type(c.attrs().string("kernel_type", "LINEAR")) {
    const auto p = c.attrs().reals("kernel_params");
    if (p.size() >= 3) gamma = p[0], offset = p[1], degree = p[2];
    if (type != "LINEAR" && type != "POLY" && type != "RBF" && type != "SIGMOID")
      c.fail("kernel_type '" + type + "'; one of LINEAR, POLY, RBF, SIGMOID");
  }

  double operator()(const double* a, const double* b, int64_t n) const {
    double dot = 0;
    for (int64_t i = 0; i < n; ++i) dot += type == "RBF" ? (a[i] - b[i]) * (a[i] - b[i]) : a[i] * b[i];
    if (type == "RBF") return std::exp(-gamma * dot);
    if (type == "POLY") return std::pow(gamma * dot + offset, degree);
    return type == "SIGMOID" ? std::tanh(gamma * dot + offset) : dot;
  }
};

void infer_svm_regressor(InferContext& c) { c.set(0, DType::f32, {row_count(c), 1}); }

void svm_regressor_reference(EvalContext& c) {
  const Rows x(c, 0);
  const Kernel kernel(c);
  const auto supports = c.attrs().integer("n_supports");
  const auto vectors = c.attrs().reals("support_vectors"), weights = c.attrs().reals("coefficients"),
             rho = c.attrs().reals("rho");
  const auto n = static_cast<size_t>(std::clamp<int64_t>(supports, 0, static_cast<int64_t>(weights.size())));
  const auto features = static_cast<size_t>(x.features);
  if (rho.empty() ||
      (supports > 0 ? n * features != vectors.size() || weights.size() != n : weights.size() != features))
    c.fail(std::to_string(vectors.size()) + " support vector entries, " + std::to_string(weights.size()) +
           " coefficients, " + std::to_string(rho.size()) + " rho for " + std::to_string(x.features) +
           " features; they do not fit together");
  std::vector<double> scores;
  for (int64_t r = 0; r < x.count; ++r) {
    double sum = rho[0];
    if (n == 0)
      for (size_t f = 0; f < features; ++f) sum += x.row(r)[f] * weights[f];
    for (size_t k = 0; k < n; ++k) sum += weights[k] * kernel(x.row(r), vectors.data() + k * features, x.features);
    if (c.attrs().integer("one_class")) sum = sum > 0 ? 1 : -1;
    apply(post_transform_from(c.attrs().string("post_transform", "NONE")), &sum, 1);
    scores.push_back(sum);
  }
  c.set(0, Tensor::from_f64(DType::f32, {x.count, 1}, scores));
}

const OpDef kSvmRegressor = {.name = "svm_regressor",
                             .onnx = "ai.onnx.ml:SVMRegressor",
                             .doc = "y = sum_k w_k K(x, v_k) + rho",
                             .types = "fi",
                             .infer = infer_svm_regressor,
                             .reference = svm_regressor_reference};
const RegisterOp kRegisterSvmRegressor(kSvmRegressor);

struct Svm {
  std::vector<double> vectors, weights, rho, prob_a, prob_b;
  std::vector<int64_t> per_class, first;  // support vectors of each class
  size_t classes = 1, supports = 0;
  bool all_positive = true;

  explicit Svm(const Attrs& attrs)
      : vectors(attrs.reals("support_vectors")),
        weights(attrs.reals("coefficients")),
        rho(attrs.reals("rho")),
        prob_a(attrs.reals("prob_a")),
        prob_b(attrs.reals("prob_b")),
        per_class(attrs.integers("vectors_per_class")) {
    classes = std::max<size_t>(Labels(attrs, "classlabels_ints", "classlabels_strings").count(), 1);
    for (int64_t n : per_class) {
      first.push_back(static_cast<int64_t>(supports));
      supports += static_cast<size_t>(std::clamp<int64_t>(n, 0, static_cast<int64_t>(weights.size())));
    }
    for (double w : weights) all_positive = all_positive && w >= 0;
  }

  size_t pairs() const { return classes * (classes - 1) / 2; }
  bool linear() const { return supports == 0; }
  bool has_probabilities() const { return !linear() && !prob_a.empty(); }
  size_t score_count() const { return linear() || has_probabilities() ? classes : pairs(); }
  // One score for two classes is written as two.
  size_t width() const { return score_count() == 1 && classes == 2 ? 2 : score_count(); }

  bool fits(int64_t features) const {
    const auto f = static_cast<size_t>(features);
    if (linear()) return !rho.empty() && weights.size() == classes * f;
    const bool sizes = per_class.size() == classes && rho.size() >= pairs() && vectors.size() == supports * f &&
                       classes >= 2 && weights.size() == (classes - 1) * supports;
    for (int64_t n : per_class)
      if (n < 0) return false;
    return sizes && (prob_a.empty() || (prob_a.size() >= pairs() && prob_b.size() >= pairs()));
  }
};

// Decision values of each pair of classes, and how many pairs each class wins.
std::vector<double> pair_scores(const Svm& svm, const std::vector<double>& kernels, std::vector<double>& votes) {
  std::vector<double> scores;
  const auto part = [&](size_t row, size_t of) {
    double sum = 0;
    for (int64_t k = svm.first[of]; k < svm.first[of] + svm.per_class[of]; ++k)
      sum += svm.weights[row * svm.supports + static_cast<size_t>(k)] * kernels[static_cast<size_t>(k)];
    return sum;
  };
  for (size_t i = 0; i < svm.classes; ++i)
    for (size_t j = i + 1; j < svm.classes; ++j) {
      scores.push_back(svm.rho[scores.size()] + part(j - 1, i) + part(i, j));
      votes[scores.back() > 0 ? i : j] += 1;
    }
  return scores;
}

// Class probabilities p that minimise sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2, by fixed-point iteration.
std::vector<double> couple(const std::vector<std::vector<double>>& r) {
  const size_t k = r.size();
  std::vector<double> p(k, 1.0 / static_cast<double>(k)), qp(k);
  std::vector<std::vector<double>> q(k, std::vector<double>(k, 0));
  for (size_t t = 0; t < k; ++t)
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t][t] += r[j][t] * r[j][t];
      q[t][j] = -r[j][t] * r[t][j];
    }
  for (size_t round = 0; round < std::max<size_t>(100, k); ++round) {
    double pqp = 0, error = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t][j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (size_t t = 0; t < k; ++t) error = std::max(error, std::fabs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (size_t t = 0; t < k; ++t) {
      const double step = (pqp - qp[t]) / q[t][t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t][t] + 2 * qp[t])) / (1 + step) / (1 + step);
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t][j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

std::vector<double> probabilities(const Svm& svm, const std::vector<double>& scores) {
  std::vector<std::vector<double>> r(svm.classes, std::vector<double>(svm.classes, 0));
  size_t pair = 0;
  for (size_t i = 0; i < svm.classes; ++i)
    for (size_t j = i + 1; j < svm.classes; ++j, ++pair) {
      double lose = scores[pair] * svm.prob_a[pair] + svm.prob_b[pair];
      apply(PostTransform::logistic, &lose, 1);
      r[i][j] = std::clamp(1 - lose, 1e-7, 1 - 1e-7);
      r[j][i] = 1 - r[i][j];
    }
  return couple(r);
}

// Class index of a row; with one rho and classes other than two: 1 or 0 by sign.
int64_t chosen_class(const Svm& svm, const std::vector<double>& by) {
  const int64_t best = argmax(by.data(), by.size());
  const double weight = by[static_cast<size_t>(best)];
  if (svm.rho.size() != 1 || svm.classes > 2) return best;
  if (svm.classes == 2) return svm.all_positive && !svm.has_probabilities() && weight >= 0.5 ? 1 : best;
  return weight > 0 ? 0 : -1;
}

void infer_svm_classifier(InferContext& c) {
  const Dim rows = row_count(c);
  c.set(0, Labels(c.attrs(), "classlabels_ints", "classlabels_strings").dtype(), {rows});
  c.set(1, DType::f32, {rows, Dim(static_cast<int64_t>(Svm(c.attrs()).width()))});
}

void svm_classifier_reference(EvalContext& c) {
  const Rows x(c, 0);
  const Kernel kernel(c);
  const Svm svm(c.attrs());
  if (!svm.fits(x.features))
    c.fail("support vectors, coefficients, rho and vectors_per_class do not fit " + std::to_string(svm.classes) +
           " classes of " + std::to_string(x.features) + " features");
  const PostTransform post = post_transform_from(c.attrs().string("post_transform", "NONE"));
  std::vector<int64_t> classes;
  std::vector<double> all;
  for (int64_t n = 0; n < x.count; ++n) {
    std::vector<double> scores, votes(svm.classes, 0);
    if (svm.linear()) {
      for (size_t k = 0; k < svm.classes; ++k) {
        double sum = svm.rho[0];
        for (int64_t f = 0; f < x.features; ++f)
          sum += x.row(n)[f] * svm.weights[k * static_cast<size_t>(x.features) + static_cast<size_t>(f)];
        scores.push_back(sum);
      }
      votes = scores;
    } else {
      std::vector<double> kernels;
      for (size_t k = 0; k < svm.supports; ++k)
        kernels.push_back(kernel(x.row(n), svm.vectors.data() + static_cast<int64_t>(k) * x.features, x.features));
      scores = pair_scores(svm, kernels, votes);
      if (svm.has_probabilities()) scores = probabilities(svm, scores);
    }
    classes.push_back(chosen_class(svm, votes));
    if (scores.size() < svm.width()) scores.insert(scores.begin(), -scores[0]);
    apply(post, scores.data(), scores.size());
    all.insert(all.end(), scores.begin(), scores.end());
  }
  c.set(0, Labels(c.attrs(), "classlabels_ints", "classlabels_strings").of(classes));
  c.set(1, Tensor::from_f64(DType::f32, {x.count, static_cast<int64_t>(svm.width())}, all));
}

const OpDef kSvmClassifier = {.name = "svm_classifier",
                              .onnx = "ai.onnx.ml:SVMClassifier",
                              .doc = "label and scores of a support vector machine",
                              .types = "fi",
                              .max_outputs = 2,
                              .infer = infer_svm_classifier,
                              .reference = svm_classifier_reference};
const RegisterOp kRegisterSvmClassifier(kSvmClassifier);

}  // namespace
}  // namespace trine::ml
