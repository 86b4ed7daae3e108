// TfIdfVectorizer: counts of known n-grams in each row, optionally cut to 0/1 and weighted. Items of an n-gram stand
// skip + 1 apart, for every skip from 0 to max_skip_count.
#include <algorithm>
#include <map>

#include "ops/node_error.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

// Largest output coordinate plus one.
template <class C>
int64_t output_width(const C& c) {
  const auto places = c.attrs().integers("ngram_indexes");
  int64_t width = 0;
  for (int64_t i : places) {
    if (i < 0 || i >= kMaxElements) c.fail("an n-gram index is " + std::to_string(i) + "; it must be >= 0");
    width = std::max(width, i + 1);
  }
  return width;
}

void infer_tfidf(InferContext& c) {
  const Shape& x = c.shape(0);
  const Dim width = output_width(c);
  if (!x.has_rank()) return c.set(0, DType::f32, Shape());
  if (x.rank() != 1 && x.rank() != 2) c.fail("x is " + c.input(0).text() + "; it must be [C] or [N,C]");
  c.set(0, DType::f32, x.rank() == 1 ? Shape{width} : Shape{x[0], width});
}

// N-grams of the pool by their items; values are positions in the pool's list of n-grams.
template <class Item>
std::map<std::vector<Item>, size_t> pool_of(const EvalContext& c, const std::vector<Item>& pool) {
  const auto starts = c.attrs().integers("ngram_counts");
  std::map<std::vector<Item>, size_t> ngrams;
  size_t position = 0;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const int64_t begin = starts[n - 1], end = n < starts.size() ? starts[n] : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) ||
        (end - begin) % static_cast<int64_t>(n) != 0)
      c.fail("ngram_counts do not cut the pool of " + std::to_string(pool.size()) + " items into n-grams");
    for (auto at = pool.begin() + begin; at != pool.begin() + end; at += static_cast<std::ptrdiff_t>(n))
      ngrams.emplace(std::vector<Item>(at, at + static_cast<std::ptrdiff_t>(n)), position++);
  }
  return ngrams;
}

template <class Item>
void count_row(const EvalContext& c, const std::map<std::vector<Item>, size_t>& pool, const Item* row, int64_t length,
               std::vector<double>& counts) {
  const int64_t shortest = std::max<int64_t>(c.attrs().integer("min_gram_length", 1), 1);
  const int64_t longest = std::min(c.attrs().integer("max_gram_length", 1),
                                   static_cast<int64_t>(c.attrs().integers("ngram_counts").size()));
  const int64_t skips = std::clamp<int64_t>(c.attrs().integer("max_skip_count"), 0, length);
  for (int64_t n = shortest; n <= std::min(longest, length); ++n)
    for (int64_t step = 1; step <= (n == 1 ? 1 : skips + 1); ++step)
      for (int64_t at = 0; at + (n - 1) * step < length; ++at) {
        std::vector<Item> ngram;
        for (int64_t k = 0; k < n; ++k) ngram.push_back(row[at + k * step]);
        if (const auto found = pool.find(ngram); found != pool.end()) counts[found->second] += 1;
      }
}

template <class Item>
void vectorize(EvalContext& c, const std::vector<Item>& pool_items, const std::vector<Item>& items) {
  const Tensor& x = c.tensor(0);
  const std::string mode = c.attrs().string("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") c.fail("mode '" + mode + "'; one of TF, IDF, TFIDF");
  const auto pool = pool_of(c, pool_items);
  const auto places = c.attrs().integers("ngram_indexes");
  const auto weights = c.attrs().reals("weights");
  if (pool.size() > places.size() || (!weights.empty() && weights.size() != places.size()))
    c.fail("as many ngram_indexes and weights as n-grams in the pool must be given");
  const int64_t rows = x.rank() == 2 ? x.dim(0) : 1, length = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  const int64_t width = output_width(c);
  std::vector<double> y(value_count(Dims{rows, width}), 0);
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> counts(places.size(), 0);
    count_row(c, pool, items.data() + r * length, length, counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      const double count = mode == "IDF" ? std::min(counts[i], 1.0) : counts[i];
      const double weight = mode == "TF" || weights.empty() ? 1 : weights[i];
      y[static_cast<size_t>(r * width + places[i])] += count * weight;
    }
  }
  c.set(0, Tensor::from_f64(DType::f32, x.rank() == 2 ? Dims{rows, width} : Dims{width}, y));
}

void tfidf_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (x.rank() > 2) c.fail("x is " + x.type_text() + "; it must be [C] or [N,C]");
  const auto words = c.attrs().strings("pool_strings");
  if (x.dtype() == DType::string) return vectorize<std::string>(c, words, x.strings());
  if (!words.empty()) c.fail("x is " + x.type_text() + ", the pool holds strings; both must be strings or integers");
  vectorize<int64_t>(c, c.attrs().integers("pool_int64s"), x.i64_values());
}

const OpDef kTfIdfVectorizer = {.name = "tfidf_vectorizer",
                                .onnx = "TfIdfVectorizer",
                                .doc = "weighted counts of known n-grams",
                                .types = "is",
                                .infer = infer_tfidf,
                                .reference = tfidf_reference};
const RegisterOp kRegisterTfIdfVectorizer(kTfIdfVectorizer);

}  // namespace
}  // namespace trine
