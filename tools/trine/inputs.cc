#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <random>

#include "media/npy.h"
#include "numbers.h"
#include "trine/base/error.h"

namespace trine::cli {
namespace {

constexpr const char* kAccepted = "NAME=file.npy, a .jpg or .png, rand, a number or [1,2,3]";

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

template <class T>
bool parse_all(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "1..8..32" -> {1, 8, 32}; "4" -> {4, 4, 4}.
DimRange parse_range(std::string_view text, const std::string& whole) {
  std::vector<int64_t> values;
  for (std::string_view rest = text;;) {
    const size_t dots = rest.find("..");
    int64_t value = 0;
    if (!parse_all(rest.substr(0, dots), value) || value < 0) {
      fail(fmt::format("--shapes {}: '{}'; sizes like 8, 1..32 or 1..8..32 are accepted", whole, text));
    }
    values.push_back(value);
    if (dots == std::string_view::npos) break;
    rest.remove_prefix(dots + 2);
  }
  if (values.size() > 3 || !std::is_sorted(values.begin(), values.end())) {
    fail(fmt::format("--shapes {}: '{}'; min..opt..max must rise", whole, text));
  }
  return {values[0], values[values.size() / 2], values.back()};
}

// Splits "name=value" at the last '=' before the value; a text without '=' belongs to the only input.
std::pair<std::string, std::string> split_spec(const std::string& spec, const std::vector<IoInfo>& declared) {
  for (const IoInfo& info : declared) {
    if (spec.starts_with(info.name + "=")) return {info.name, spec.substr(info.name.size() + 1)};
  }
  const size_t equals = spec.rfind('=');
  if (spec.empty()) fail(fmt::format("--input: no value; {} is accepted", kAccepted));
  if (equals == std::string::npos && declared.size() == 1) return {declared[0].name, spec};
  std::string names;
  for (const IoInfo& info : declared) names += fmt::format(" {}", info.name);
  fail(fmt::format("--input {}: {}; the model's inputs:{}", spec,
                   equals == std::string::npos ? "which input?" : fmt::format("no input '{}'", spec.substr(0, equals)),
                   names));
}

// Gives symbols their sizes: from --shapes, and from tensors as they are made, so that a symbol is one size everywhere.
class Sizes {
 public:
  Sizes(const std::vector<IoInfo>& declared, const ShapeRanges& ranges, const std::map<std::string, int64_t>& likely)
      : ranges_(ranges), likely_(likely) {
    for (const auto& [name, dims] : ranges) {
      const auto info = std::find_if(declared.begin(), declared.end(), [&](const auto& i) { return i.name == name; });
      if (info == declared.end()) fail(fmt::format("--shapes {}: no such input; see trine inspect", name));
      if (info->type.shape.has_rank() && info->type.shape.rank() != static_cast<int>(dims.size())) {
        fail(fmt::format("--shapes {}: {} sizes; the model declares {}", name, dims.size(), info->type.text()));
      }
      Dims opt;
      for (const DimRange& d : dims) opt.push_back(d.opt);
      learn(*info, opt);
    }
  }

  // What a given tensor of these sizes says about symbols.
  void learn(const IoInfo& info, const Dims& dims) {
    const Shape& shape = info.type.shape;
    if (!shape.has_rank() || shape.rank() != static_cast<int>(dims.size())) return;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i].is_symbol()) symbols_.try_emplace(shape[i].text(), dims[static_cast<size_t>(i)]);
    }
  }

  // A given tensor keeps to --shapes.
  void check(const IoInfo& info, const Dims& dims) const {
    const auto range = ranges_.find(info.name);
    if (range == ranges_.end() || range->second.size() != dims.size()) return;
    for (size_t i = 0; i < dims.size(); ++i) {
      const DimRange& r = range->second[i];
      if (dims[i] >= r.min && dims[i] <= r.max) continue;
      fail(fmt::format("input {}: [{}] is given, and --shapes says {} in dimension {}; make them agree", info.name,
                       to_string(dims), r.min == r.max ? fmt::format("{}", r.opt) : fmt::format("{}..{}", r.min, r.max),
                       i));
    }
  }

  // Known size of dimension i.
  std::optional<int64_t> known(const IoInfo& info, int i) const {
    const auto range = ranges_.find(info.name);
    if (range != ranges_.end()) return range->second[static_cast<size_t>(i)].opt;
    return info.type.shape[i].evaluate([&](std::string_view symbol) -> std::optional<int64_t> {
      const auto found = symbols_.find(symbol);
      if (found != symbols_.end()) return found->second;
      const auto likely = likely_.find(std::string(symbol));
      return likely == likely_.end() ? std::nullopt : std::optional(likely->second);
    });
  }

  // All sizes; an unknown first dimension is a batch of 1.
  Dims all(const IoInfo& info) const {
    const auto range = ranges_.find(info.name);
    if (!info.type.shape.has_rank() && range == ranges_.end()) unknown(info);
    const int rank = info.type.shape.has_rank() ? info.type.shape.rank() : static_cast<int>(range->second.size());
    Dims dims;
    for (int i = 0; i < rank; ++i) {
      const auto size = known(info, i);
      if (!size && i) unknown(info);
      dims.push_back(size.value_or(1));
    }
    return dims;
  }

 private:
  // A whole shape that is likely to work: known sizes, 1 for a batch, 224 for height and width, 256 elsewhere.
  std::string suggestion(const IoInfo& info) const {
    const Shape& shape = info.type.shape;
    if (!shape.has_rank()) return "1x3x224x224";
    const bool picture = shape.rank() == 4 && (known(info, 1) == 3 || known(info, 3) == 3);
    std::map<std::string, int64_t, std::less<>> sizes = symbols_;
    std::string text;
    for (int i = 0; i < shape.rank(); ++i) {
      const auto size = shape[i].evaluate([&](std::string_view symbol) -> std::optional<int64_t> {
        return sizes.emplace(std::string(symbol), i == 0 ? 1 : picture ? 224 : 256).first->second;
      });
      text += fmt::format("{}{}", i ? "x" : "", size.value_or(i == 0 ? 1 : picture ? 224 : 256));
    }
    return text;
  }

  [[noreturn]] void unknown(const IoInfo& info) const {
    fail(fmt::format("input {}: {} has open dimensions; give their sizes, such as --shapes {}={}", info.name,
                     info.type.text(), info.name, suggestion(info)));
  }

  const ShapeRanges& ranges_;
  const std::map<std::string, int64_t>& likely_;
  std::map<std::string, int64_t, std::less<>> symbols_;
};

// A batch of `count` times the same.
Tensor repeated(const Tensor& one, int64_t count) {
  if (count == 1) return one;
  Dims dims = one.dims();
  dims[0] = count;
  Tensor all(one.dtype(), dims);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<uint8_t*>(all.mutable_data()) + static_cast<size_t>(i) * one.bytes(), one.data(),
                one.bytes());
  return all;
}

Tensor picture_tensor(const IoInfo& info, const std::string& path, const InputOptions& options, Sizes& sizes,
                      std::optional<Picture>& used) {
  const Shape& shape = info.type.shape;
  const auto is_three = [&](int i) { return sizes.known(info, i) == 3; };
  if (!shape.has_rank() || shape.rank() != 4 || !(is_three(1) || is_three(3))) {
    fail(fmt::format("input {}: a picture for {}; it needs [n,3,h,w] or [n,h,w,3]", info.name, info.type.text()));
  }
  media::Normalise normalise = options.normalise;
  normalise.channels_last = !is_three(1);
  if (info.type.dtype == DType::u8) normalise.scale = 1;
  Picture picture{media::load_image(path), {}, 0, 0};
  const int h = normalise.channels_last ? 1 : 2;
  picture.height = static_cast<int>(std::min<int64_t>(sizes.known(info, h).value_or(picture.image.height), 1 << 15));
  picture.width = static_cast<int>(std::min<int64_t>(sizes.known(info, h + 1).value_or(picture.image.width), 1 << 15));
  const auto fitted = media::fit(picture.image, picture.width, picture.height, options.fit, &picture.fit);
  Tensor tensor = repeated(media::to_tensor(fitted, normalise), sizes.known(info, 0).value_or(1));
  if (info.type.dtype != DType::f32) tensor = Tensor::from_f64(info.type.dtype, tensor.dims(), tensor.f64_values());
  used = std::move(picture);
  return tensor;
}

Tensor npy_tensor(const IoInfo& info, const std::string& path) {
  Tensor tensor = media::load_npy(path);
  if (info.type.is_tensor() && tensor.dtype() != info.type.dtype) {
    fail(fmt::format("input {}: {} holds {}, the model takes {}; save it with numpy's x.astype('{}')", info.name, path,
                     tensor.type_text(), info.type.text(), media::numpy_name(info.type.dtype)));
  }
  return tensor;
}

Tensor given_tensor(const IoInfo& info, const std::string& value, const InputOptions& options, Sizes& sizes,
                    std::optional<Picture>& picture) {
  if (value.empty()) fail(fmt::format("--input {}=: no value; {} is accepted", info.name, kAccepted));
  Tensor tensor = value.ends_with(".npy")       ? npy_tensor(info, value)
                  : media::is_image_path(value) ? picture_tensor(info, value, options, sizes, picture)
                                                : number_tensor(info, value);
  sizes.check(info, tensor.dims());
  return tensor;
}

// A random seed when `value` asks for random data.
std::optional<uint64_t> random_seed(const std::string& value, uint64_t otherwise) {
  uint64_t seed = otherwise;
  if (value == "rand") return seed;
  if (value.starts_with("rand:") && parse_all(std::string_view(value).substr(5), seed)) return seed;
  return std::nullopt;
}

}  // namespace

ShapeRanges parse_shapes(const std::vector<std::string>& texts) {
  ShapeRanges ranges;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      fail(fmt::format("--shapes: {} names no input; NAME=1x3x224x224 or NAME=1..8..32x3x224x224 is accepted", text));
    }
    auto& dims = ranges[text.substr(0, equals)];
    std::string_view rest = std::string_view(text).substr(equals + 1);
    while (!rest.empty()) {
      const size_t cross = rest.find('x');
      dims.push_back(parse_range(rest.substr(0, cross), text));
      rest.remove_prefix(cross == std::string_view::npos ? rest.size() : cross + 1);
    }
  }
  return ranges;
}

Tensor random_tensor(DType dtype, const Dims& dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto count = static_cast<size_t>(element_count(dims));
  if (dtype == DType::f32) {
    Tensor out(dtype, dims);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < count; ++i) out.mutable_as<float>()[i] = normal(random);
    return out;
  }
  std::vector<double> values(count);
  std::normal_distribution<double> normal;
  for (double& v : values) v = is_float(dtype) ? normal(random) : static_cast<double>(random() >> 63);
  return Tensor::from_f64(dtype, dims, values);
}

Inputs make_inputs(const std::vector<IoInfo>& declared, const InputOptions& options) {
  std::map<std::string, std::string> wanted;
  for (const std::string& spec : options.specs) {
    const auto [name, value] = split_spec(spec, declared);
    if (!wanted.emplace(name, value).second) fail(fmt::format("--input {}: {} is given twice", spec, name));
  }
  const ShapeRanges ranges = parse_shapes(options.shapes);
  Sizes sizes(declared, ranges, options.likely);
  Inputs out;
  // What the user gives first: it settles symbols for what is made up.
  for (const IoInfo& info : declared) {
    const auto found = wanted.find(info.name);
    if (found == wanted.end() || random_seed(found->second, 0)) continue;
    const Tensor tensor = given_tensor(info, found->second, options, sizes, out.picture);
    sizes.learn(info, tensor.dims());
    out.tensors[info.name] = tensor;
  }
  uint64_t seed = options.seed;
  for (const IoInfo& info : declared) {
    if (out.tensors.contains(info.name)) continue;
    const auto found = wanted.find(info.name);
    const uint64_t own = found == wanted.end() ? seed : *random_seed(found->second, seed);
    if (!info.type.is_tensor() || info.type.dtype == DType::string) {
      fail(fmt::format("input {}: no random data for {}; give it with --input", info.name, info.type.text()));
    }
    out.tensors[info.name] = random_tensor(info.type.dtype, sizes.all(info), own);
    ++seed;
  }
  return out;
}

}  // namespace trine::cli
