// ZipMap, CastMap, DictVectorizer. Our types know no map: one is held as a sequence of two vectors, keys and values,
// and a sequence of maps as a sequence of such sequences.
#include <algorithm>
#include <map>
#include <numeric>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/movement.h"

namespace trine::ml {
namespace {

Type map_type() { return Type::sequence(Type::tensor(DType::none, Shape{Dim::symbol("entries")})); }

void infer_zip_map(InferContext& c) { c.set(0, Type::sequence(map_type())); }

void zip_map_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto names = c.attrs().strings("classlabels_strings");
  const auto width = static_cast<int64_t>(std::max(names.size(), c.attrs().integers("classlabels_int64s").size()));
  const Tensor keys =
      names.empty() ? Tensor::vector_i64(c.attrs().integers("classlabels_int64s")) : Tensor::of_strings({width}, names);
  if (x.rank() < 1 || x.rank() > 2 || x.dim(x.rank() - 1) != width)
    c.fail("x is " + x.type_text() + "; it must have one column per label: " + std::to_string(width));
  Datum::Sequence maps;
  const int64_t rows = x.rank() == 2 ? x.dim(0) : 1;
  for (int64_t n = 0; n < rows; ++n) {
    const Tensor row = copy_view(x, View{{width}, {1}, n * width});
    maps.push_back(Datum::sequence({Datum(keys), Datum(row)}));
  }
  Datum result = Datum::sequence(std::move(maps));
  if (rows == 0) result.sequence_type = Type::sequence(map_type());
  c.set(0, std::move(result));
}

const OpDef kZipMap = {.name = "zip_map",
                       .onnx = "ai.onnx.ml:ZipMap",
                       .doc = "each row as a map from label to value",
                       .types = "f",
                       .infer = infer_zip_map,
                       .reference = zip_map_reference};
const RegisterOp kRegisterZipMap(kZipMap);

struct Map {
  Tensor keys, values;

  Map(const EvalContext& c) {
    const Datum& d = c.datum(0);
    if (!d.is_sequence() || d.items().size() != 2 || !d.items()[0].is_tensor() || !d.items()[1].is_tensor() ||
        d.items()[0].tensor().elements() != d.items()[1].tensor().elements())
      c.fail("input 0 is no map: a sequence of two vectors of one length, keys and values");
    keys = d.items()[0].tensor();
    values = d.items()[1].tensor();
  }
};

DType cast_map_type(const Attrs& attrs) {
  const std::string to = attrs.string("cast_to", "TO_FLOAT");
  return to == "TO_STRING" ? DType::string : to == "TO_INT64" ? DType::i64 : DType::f32;
}

bool is_sparse(const Attrs& attrs) { return attrs.string("map_form", "DENSE") == "SPARSE"; }

void infer_cast_map(InferContext& c) {
  c.set(0, cast_map_type(c.attrs()),
        {1, is_sparse(c.attrs()) ? Dim(c.attrs().integer("max_map", 1)) : c.fresh("entries")});
}

Tensor converted(const Tensor& t, DType to) {
  if (to == DType::string) {
    if (t.dtype() == DType::string) return t;
    std::vector<std::string> text;
    for (double v : t.f64_values()) text.push_back(std::to_string(v));
    return Tensor::of_strings(t.dims(), std::move(text));
  }
  std::vector<double> values;
  if (t.dtype() == DType::string)
    for (const std::string& s : t.strings()) values.push_back(std::strtod(s.c_str(), nullptr));
  else values = t.f64_values();
  return Tensor::from_f64(to, t.dims(), values);
}

void cast_map_reference(EvalContext& c) {
  const Map map(c);
  const bool sparse = is_sparse(c.attrs());
  const auto keys = map.keys.i64_values();
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  const int64_t width = sparse ? c.attrs().integer("max_map", 1) : static_cast<int64_t>(keys.size());
  const Tensor values = converted(map.values, cast_map_type(c.attrs()));
  TensorBuilder y(values.dtype(), {1, width});
  y.zero();
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t key = keys[order[i]];
    if (sparse && (key < 0 || key >= width))
      c.fail("key " + std::to_string(key) + " outside [0, " + std::to_string(width - 1) + "]");
    y.copy(sparse ? key : static_cast<int64_t>(i), values, static_cast<int64_t>(order[i]));
  }
  c.set(0, y.take());
}

const OpDef kCastMap = {.name = "cast_map",
                        .onnx = "ai.onnx.ml:CastMap",
                        .doc = "a map's values in the order of its keys",
                        .types = "?",
                        .infer = infer_cast_map,
                        .reference = cast_map_reference};
const RegisterOp kRegisterCastMap(kCastMap);

size_t vocabulary_size(const Attrs& a) {
  return std::max(a.integers("int64_vocabulary").size(), a.strings("string_vocabulary").size());
}

void infer_dict_vectorizer(InferContext& c) {
  c.set(0, DType::none, {1, Dim(static_cast<int64_t>(vocabulary_size(c.attrs())))});
}

void dict_vectorizer_reference(EvalContext& c) {
  const Map map(c);
  TensorBuilder y(map.values.dtype(), {1, static_cast<int64_t>(vocabulary_size(c.attrs()))});
  y.zero();
  const auto put = [&](const auto& vocabulary, const auto& keys) {
    std::map<std::decay_t<decltype(keys[0])>, int64_t> place;
    for (const auto& word : vocabulary) place.emplace(word, static_cast<int64_t>(place.size()));
    for (size_t i = 0; i < keys.size(); ++i)
      if (const auto found = place.find(keys[i]); found != place.end())
        y.copy(found->second, map.values, static_cast<int64_t>(i));
  };
  if (map.keys.dtype() == DType::string) put(c.attrs().strings("string_vocabulary"), map.keys.strings());
  else put(c.attrs().integers("int64_vocabulary"), map.keys.i64_values());
  c.set(0, y.take());
}

const OpDef kDictVectorizer = {.name = "dict_vectorizer",
                               .onnx = "ai.onnx.ml:DictVectorizer",
                               .doc = "y[i] = map[vocabulary[i]], or zero",
                               .types = "?",
                               .infer = infer_dict_vectorizer,
                               .reference = dict_vectorizer_reference};
const RegisterOp kRegisterDictVectorizer(kDictVectorizer);

}  // namespace
}  // namespace trine::ml
