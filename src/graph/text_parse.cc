// Reads the text form of a graph back. Besides what the printer writes, a constant may be `f32[8,3] random(7)`: normal
// numbers from that seed.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <random>

#include "base/checked.h"
#include "graph/text.h"

namespace trine {
namespace {

constexpr int kMaxDepth = 50;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Graph parse() {
    Graph g = graph(0);
    skip();
    if (at_ != text_.size()) fail("text after the graph");
    return g;
  }

 private:
  Graph graph(int depth) {
    if (depth > kMaxDepth) fail("graphs nested too deep");
    Graph g;
    std::map<std::string, ValueId, std::less<>> ids;
    const auto define = [&](const std::string& name, Type type) {
      const ValueId id = g.add_value(name, std::move(type));
      if (!ids.emplace(name, id).second) fail("value %" + name + " is defined twice");
      return id;
    };
    word("graph");
    need('(');
    while (!eat(')')) {
      const std::string name = value_name();
      need(':');
      g.inputs.push_back(define(name, type()));
      eat(',');
    }
    need('{');
    while (!peek_word("return")) statement(g, ids, define, depth);
    word("return");
    while (!eat('}')) {
      g.outputs.push_back(lookup(ids));
      eat(',');
    }
    return g;
  }

  template <class Ids, class Define>
  void statement(Graph& g, Ids& ids, const Define& define, int depth) {
    std::vector<std::pair<std::string, Type>> outputs;
    do {
      if (eat('_')) {
        outputs.push_back({"", {}});
        continue;
      }
      const std::string name = value_name();
      outputs.push_back({name, eat(':') ? type() : Type{}});
    } while (eat(','));
    need('=');
    if (peek_word("const")) {
      word("const");
      const ValueId id = define(outputs[0].first, outputs[0].second);
      g.value(id).constant = tensor();
      g.value(id).type = Type::tensor(g.value(id).constant.dtype(), Shape::from(g.value(id).constant.dims()));
      return;
    }
    const std::string op_name = identifier();
    Node node;
    node.op = find_op(op_name);
    if (!node.op) fail("unknown operator " + op_name);
    for (;;) {
      skip();
      if (eat('_')) node.inputs.push_back(kNoValue);
      else if (at_ < text_.size() && text_[at_] == '%') {
        if (defines_next()) break;
        node.inputs.push_back(lookup(ids));
      } else break;
    }
    if (eat('{')) attributes(node.attrs);
    if (peek_word("captures")) {
      word("captures");
      need('=');
      node.captures = static_cast<int>(std::get<int64_t>(number()));
    }
    while (peek_word("graph")) node.bodies.push_back(std::make_shared<Graph>(graph(depth + 1)));
    for (auto& [name, t] : outputs) node.outputs.push_back(name.empty() ? kNoValue : define(name, t));
    node.name = outputs[0].first;
    g.nodes.push_back(std::move(node));
  }

  // Whether a `%name` at the cursor starts a new statement: only then is it followed by ':' or '='.
  bool defines_next() {
    const size_t saved = at_;
    value_name();
    skip();
    const bool starts = at_ < text_.size() && (text_[at_] == ':' || text_[at_] == '=' || text_[at_] == ',');
    at_ = saved;
    return starts;
  }

  template <class Ids>
  ValueId lookup(const Ids& ids) {
    const std::string name = value_name();
    const auto it = ids.find(name);
    if (it == ids.end()) fail("value %" + name + " is used before it is defined");
    return it->second;
  }

  void attributes(Attrs& attrs) {
    while (!eat('}')) {
      std::string name = identifier();
      need('=');
      attrs.set(std::move(name), attribute());
      eat(',');
    }
  }

  AttrValue attribute() {
    skip();
    if (at_ < text_.size() && text_[at_] == '"') return string();
    if (peek_word("type")) {
      word("type");
      return type();
    }
    for (std::string_view kind : {"reals", "strings", "tensors"}) {
      if (!peek_word(kind)) continue;
      word(kind);
      if (kind == "tensors") return list<Tensor>([&] { return tensor(); });
      need('[');
      need(']');
      return kind == "reals" ? AttrValue(std::vector<double>{}) : AttrValue(std::vector<std::string>{});
    }
    if (at_ < text_.size() && text_[at_] == '[') return attribute_list();
    if (is_type_start()) return tensor();
    const auto v = number();
    if (const auto* i = std::get_if<int64_t>(&v)) return *i;
    return std::get<double>(v);
  }

  AttrValue attribute_list() {
    const size_t saved = at_;
    need('[');
    skip();
    if (at_ < text_.size() && text_[at_] == '"') {
      at_ = saved;
      return list<std::string>([&] { return string(); });
    }
    at_ = saved;
    const auto numbers = list<std::variant<int64_t, double>>([&] { return number(); });
    std::vector<int64_t> integers;
    std::vector<double> reals;
    for (const auto& v : numbers) {
      if (const auto* i = std::get_if<int64_t>(&v)) integers.push_back(*i);
      reals.push_back(std::visit([](auto x) { return static_cast<double>(x); }, v));
    }
    if (integers.size() == numbers.size()) return integers;
    return reals;
  }

  template <class T, class F>
  std::vector<T> list(F item) {
    std::vector<T> out;
    need('[');
    while (!eat(']')) {
      out.push_back(item());
      eat(',');
    }
    return out;
  }

  // An attribute tensor starts with a dtype name followed by '['.
  bool is_type_start() {
    const size_t saved = at_;
    size_t end = at_;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    const bool is_type = end < text_.size() && text_[end] == '[' && dtype_from_name(text_.substr(saved, end - saved));
    return is_type;
  }

  Tensor tensor() {
    const Type t = type();
    if (!t.is_tensor() || !t.shape.is_static()) fail("a constant needs a static tensor type");
    const Dims dims = t.shape.static_dims();
    if (peek_word("random")) return random_tensor(t.dtype, dims);
    need('{');
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> strings;
    while (!eat('}')) {
      if (t.dtype == DType::string) strings.push_back(string());
      else if (is_float(t.dtype)) reals.push_back(real());
      else integers.push_back(integer());
      eat(',');
    }
    const auto count = static_cast<size_t>(element_count(dims));
    if (std::max({integers.size(), reals.size(), strings.size()}) != count) fail("constant: wrong number of elements");
    if (t.dtype == DType::string) return Tensor::of_strings(dims, std::move(strings));
    return is_float(t.dtype) ? Tensor::from_f64(t.dtype, dims, reals) : Tensor::from_i64(t.dtype, dims, integers);
  }

  Tensor random_tensor(DType dtype, const Dims& dims) {
    word("random");
    need('(');
    std::mt19937_64 engine(static_cast<uint64_t>(integer()));
    need(')');
    const auto count = static_cast<size_t>(element_count(dims));
    std::normal_distribution<double> normal;
    std::vector<double> values(count);
    for (double& v : values) v = is_float(dtype) ? normal(engine) : static_cast<double>(engine() % 7) - 3;
    return Tensor::from_f64(dtype, dims, values);
  }

  Type type() {
    skip();
    const size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[' || c == '(') ++depth;
      if ((c == ']' || c == ')') && depth-- == 0) break;
      if (depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '{' || c == '=')) break;
      ++at_;
    }
    return Type::parse(text_.substr(begin, at_ - begin));
  }

  std::string_view number_word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' ||
                                  text_[at_] == '+' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // The whole word as a T.
  template <class T>
  static std::optional<T> read_as(std::string_view word) {
    T value;
    const auto r = std::from_chars(word.data(), word.data() + word.size(), value);
    return r.ec == std::errc() && r.ptr == word.data() + word.size() ? std::optional(value) : std::nullopt;
  }

  [[noreturn]] void no_number(std::string_view word) {
    at_ -= word.size();
    fail("expected a number");
  }

  std::variant<int64_t, double> number() {
    const std::string_view word = number_word();
    if (const auto i = read_as<int64_t>(word)) return *i;
    if (const auto u = read_as<uint64_t>(word))
      return static_cast<int64_t>(*u);  // the upper half of u64 keeps its bits
    if (const auto d = read_as<double>(word)) return *d;
    no_number(word);
  }

  // -0 is not 0, 2^63 not -2^63.
  double real() {
    const std::string_view word = number_word();
    if (const auto d = read_as<double>(word)) return *d;
    no_number(word);
  }

  int64_t integer() {
    const auto v = number();
    if (!std::holds_alternative<int64_t>(v)) fail("expected an integer");
    return std::get<int64_t>(v);
  }

  std::string string() {
    need('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) out += text_[++at_] == 'n' ? '\n' : text_[at_];
      else out += text_[at_];
      ++at_;
    }
    need('"');
    return out;
  }

  std::string value_name() {
    need('%');
    if (at_ < text_.size() && text_[at_] == '"') return string();
    return token(" \t\n\"\\%:,=(){}[]");
  }

  std::string identifier() {
    skip();
    return token(" \t\n\"\\%:,=(){}[]");
  }

  std::string token(std::string_view stops) {
    const size_t begin = at_;
    while (at_ < text_.size() && stops.find(text_[at_]) == std::string_view::npos) ++at_;
    if (at_ == begin) fail("expected a name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool peek_word(std::string_view w) {
    skip();
    if (!text_.substr(at_).starts_with(w)) return false;
    const size_t end = at_ + w.size();
    return end >= text_.size() || !(std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_');
  }
  void word(std::string_view w) {
    if (!peek_word(w)) fail(fmt::format("expected '{}'", w));
    at_ += w.size();
  }
  bool eat(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!eat(c)) fail(fmt::format("expected '{}'", c));
  }
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      else if (text_[at_] == '#')
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      else return;
    }
  }
  [[noreturn]] void fail(const std::string& what) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    throw Error(ErrorCode::invalid_argument, fmt::format("graph text, line {}: {}", line, what));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Graph Graph::parse(std::string_view text) {
  Graph g = Parser(text).parse();
  g.verify();
  return g;
}

}  // namespace trine
