#include "ops/recurrent.h"

#include <algorithm>
#include <limits>

#include "ops/node_error.h"
#include "ops/types.h"

namespace trine {
namespace {

int64_t direction_count(const Node& node) {
  const std::string direction = node.attrs.string("direction", "forward");
  if (direction == "bidirectional") return 2;
  require(node, direction == "forward" || direction == "reverse",
          fmt::format("direction '{}'; want forward, reverse or bidirectional", direction));
  return 1;
}

void require_dims(const Node& node, const Tensor& t, const Dims& want, std::string_view what) {
  require(node, t.dims() == want, fmt::format("{} is {}; want [{}]", what, t.type_text(), to_string(want)));
}

// The input has these dimensions, as far as both are known: kernels read it without looking again.
void need_dims(const InferContext& c, int input, const std::vector<Dim>& want, std::string_view what) {
  const Shape& have = c.shape(input);
  if (!c.has(input) || !have.has_rank()) return;
  bool fits = have.rank() == static_cast<int>(want.size());
  for (size_t i = 0; fits && i < want.size(); ++i) {
    const auto a = have.dims()[i].constant(), b = want[i].constant();
    fits = !a || !b || *a == *b;
  }
  if (!fits) c.fail(fmt::format("{} is {}; want [{}]", what, c.input(input).text(), Shape(want).text()));
}

// The parameters that the functions before `index` read from a list shared by all of them.
double listed(const std::vector<double>& list, size_t& next, bool wanted, double otherwise) {
  return wanted && next < list.size() ? list[next++] : otherwise;
}

}  // namespace

void infer_recurrent(InferContext& c, int gates, int states) {
  if (c.attrs().has("hidden_size") && c.shape(2).has_rank() && c.shape(2).rank() == 3)
    need_dims(c, 2, {c.shape(2)[0], c.shape(2)[1], c.attrs().integer("hidden_size")}, "r");
  for (int i = 0; i < 3; ++i) c.need_rank(i, 3);
  const bool batch_first = c.attrs().integer("layout") != 0;
  const int64_t directions = direction_count(c.node());
  const Shape &x = c.shape(0), &r = c.shape(2);
  const Dim steps = x.has_rank() ? x[batch_first ? 1 : 0] : c.fresh("steps");
  const Dim batch = x.has_rank() ? x[batch_first ? 0 : 1] : c.fresh("batch");
  const Dim hidden = r.has_rank()                   ? r[2]
                     : c.attrs().has("hidden_size") ? Dim(c.attrs().integer("hidden_size"))
                                                    : c.fresh("hidden");
  const Dim rows = hidden * gates, input = x.has_rank() ? x[2] : c.fresh("input");
  need_dims(c, 1, {directions, rows, input}, "w");
  need_dims(c, 2, {directions, rows, hidden}, "r");
  need_dims(c, 3, {directions, rows * 2}, "b");
  need_dims(c, 4, {batch}, "sequence_lens");
  for (int i = 0; i < states; ++i)
    need_dims(c, 5 + i,
              batch_first ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden},
              i == 0 ? "initial_h" : "initial_c");
  if (states == 2) need_dims(c, 7, {directions, hidden * 3}, "p");
  c.set(0, c.dtype(0), batch_first ? Shape{batch, steps, directions, hidden} : Shape{steps, directions, batch, hidden});
  for (int i = 1; i <= states; ++i)
    c.set(i, c.dtype(0), batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden});
}

Recurrent::Recurrent(EvalContext& c, int gates) : c_(c), gates_(gates) {
  const Node& node = c.node();
  const Tensor &x = c.tensor(0), &w = c.tensor(1), &r = c.tensor(2);
  require(node, x.rank() == 3 && w.rank() == 3 && r.rank() == 3,
          fmt::format("x is {}, w is {}, r is {}; want three dimensions each", x.type_text(), w.type_text(),
                      r.type_text()));
  batch_first_ = c.attrs().integer("layout") != 0;
  direction_ = c.attrs().string("direction", "forward");
  directions_ = direction_count(node);
  steps_ = x.dim(batch_first_ ? 1 : 0);
  batch_ = x.dim(batch_first_ ? 0 : 1);
  input_ = x.dim(2);
  hidden_ = r.dim(2);
  require_dims(node, w, {directions_, gates_ * hidden_, input_}, "w");
  require_dims(node, r, {directions_, gates_ * hidden_, hidden_}, "r");
  clip_ = c.attrs().has("clip") ? c.attrs().real("clip") : std::numeric_limits<double>::infinity();
  x_ = x.f64_values();
  w_ = w.f64_values();
  r_ = r.f64_values();
  bias_ = per_direction(3, 2 * gates_ * hidden_);
  lengths_.assign(value_count({batch_}), steps_);
  if (!c.has(4)) return;
  require_dims(node, c.tensor(4), {batch_}, "sequence_lens");
  lengths_ = c.tensor(4).i64_values();
  for (int64_t n : lengths_)
    require(node, n >= 0 && n <= steps_, fmt::format("sequence_lens holds {}; want 0 to {}", n, steps_));
}

std::vector<double> Recurrent::per_direction(int input, int64_t count) const {
  if (!c_.has(input)) return std::vector<double>(value_count({directions_, count}), 0.0);
  require_dims(c_.node(), c_.tensor(input), {directions_, count}, fmt::format("input {}", input));
  return c_.tensor(input).f64_values();
}

std::vector<Activation> Recurrent::activations(int64_t d, const std::vector<std::string_view>& defaults) const {
  const auto given = c_.attrs().has("activations") ? c_.attrs().strings("activations") : std::vector<std::string>{};
  const auto alphas = c_.attrs().reals("activation_alpha"), betas = c_.attrs().reals("activation_beta");
  const size_t each = defaults.size(), total = each * static_cast<size_t>(directions_);
  // a single set is accepted for both directions, as the attribute's default of RNN suggests
  require(c_.node(), given.empty() || given.size() == each || given.size() >= total,
          fmt::format("activations has {} names; want {}", given.size(), total));
  std::vector<Activation> all;
  size_t next_alpha = 0, next_beta = 0;
  for (size_t i = 0; i < total; ++i) {
    const std::string_view name =
        given.empty() ? defaults[i % each] : std::string_view(given[i < given.size() ? i : i % each]);
    const ActivationRow* row = find_activation(name);
    require(c_.node(), row != nullptr, fmt::format("activation '{}' is not known", name));
    const double alpha = listed(alphas, next_alpha, row->parameters >= 1, row->alpha);
    all.push_back({row->kind, alpha, listed(betas, next_beta, row->parameters >= 2, row->beta)});
  }
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(d) * each);
  return {first, first + static_cast<std::ptrdiff_t>(each)};
}

double Recurrent::clipped(double v) const { return v < -clip_ ? -clip_ : v > clip_ ? clip_ : v; }

std::vector<double> Recurrent::input_sums(int64_t d, const double* x) const {
  const int64_t rows = gates_ * hidden_;
  const double* w = w_.data() + d * rows * input_;
  std::vector<double> sums(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i, w += input_) {
    double sum = bias_[static_cast<size_t>(d * 2 * rows + i)];
    for (int64_t k = 0; k < input_; ++k) sum += w[k] * x[k];
    sums[static_cast<size_t>(i)] = sum;
  }
  return sums;
}

std::vector<double> Recurrent::hidden_product(int64_t d, int64_t gate, const State& h) const {
  const double* r = r_.data() + (d * gates_ + gate) * hidden_ * hidden_;
  std::vector<double> sums(static_cast<size_t>(hidden_));
  for (double& sum : sums)
    for (int64_t k = 0; k < hidden_; ++k) sum += *r++ * h[static_cast<size_t>(k)];
  return sums;
}

std::vector<double> Recurrent::hidden_sums(int64_t d, const State& h) const {
  std::vector<double> sums;
  for (int64_t g = 0; g < gates_; ++g)
    for (double v : hidden_product(d, g, h)) sums.push_back(v + hidden_bias(d, static_cast<int64_t>(sums.size())));
  return sums;
}

int64_t Recurrent::y_row(int64_t t, int64_t d, int64_t b) const {
  return (batch_first_ ? (b * steps_ + t) * directions_ + d : (t * directions_ + d) * batch_ + b) * hidden_;
}

int64_t Recurrent::state_row(int64_t d, int64_t b) const {
  return (batch_first_ ? b * directions_ + d : d * batch_ + b) * hidden_;
}

std::vector<double> Recurrent::initial_state(int input) const {
  if (!c_.has(input)) return std::vector<double>(value_count({directions_, batch_, hidden_}), 0.0);
  require_dims(c_.node(), c_.tensor(input),
               batch_first_ ? Dims{batch_, directions_, hidden_} : Dims{directions_, batch_, hidden_},
               fmt::format("input {}", input));
  return c_.tensor(input).f64_values();
}

void Recurrent::run(const std::vector<int>& initial,
                    const std::function<void(int64_t, const double*, std::vector<State>&)>& step) {
  const Dims y_dims =
      batch_first_ ? Dims{batch_, steps_, directions_, hidden_} : Dims{steps_, directions_, batch_, hidden_};
  const Dims state_dims = batch_first_ ? Dims{batch_, directions_, hidden_} : Dims{directions_, batch_, hidden_};
  std::vector<double> y(value_count(y_dims), 0.0);
  std::vector<std::vector<double>> all;  // of each kind of state: [D,B,H], first initial, then final
  for (int input : initial) all.push_back(initial_state(input));
  for (int64_t d = 0; d < directions_; ++d)
    for (int64_t b = 0; b < batch_; ++b) {
      std::vector<State> states;
      for (const auto& s : all) states.emplace_back(s.begin() + state_row(d, b), s.begin() + state_row(d, b) + hidden_);
      const int64_t length = lengths_[static_cast<size_t>(b)];
      const bool backward = d == 1 || direction_ == "reverse";
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = backward ? length - 1 - s : s;
        step(d, x_.data() + x_row(t, b), states);
        std::copy(states[0].begin(), states[0].end(), y.begin() + y_row(t, d, b));
      }
      for (size_t k = 0; k < all.size(); ++k)
        std::copy(states[k].begin(), states[k].end(), all[k].begin() + state_row(d, b));
    }
  const DType dtype = c_.tensor(0).dtype();
  c_.set(0, Tensor::from_f64(dtype, y_dims, y));
  for (size_t k = 0; k < all.size(); ++k) c_.set(static_cast<int>(k) + 1, Tensor::from_f64(dtype, state_dims, all[k]));
}

}  // namespace trine
