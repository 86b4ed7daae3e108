// benchdnn's rules, per spatial dimension (i input, o output, k kernel, s stride, d dilation, p padding):
//   reach = (k - 1) * (d + 1) + 1           o = (i - reach + 2p) / s + 1        p = ((o - 1) * s - i + reach) / 2
// and with input and output changing places for a transposed convolution.
#include "descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace trine::bench {
namespace {

using Wide = __int128;  // sizes are below 2^63, products of two below 2^127

constexpr std::string_view kConvKeys[] = {"mb", "ic", "id", "ih", "iw", "oc", "od", "oh", "ow", "kd", "kh",
                                          "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw", "g"};
constexpr std::string_view kPoolKeys[] = {"mb", "ic", "id", "ih", "iw", "od", "oh", "ow", "kd", "kh",
                                          "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw"};
constexpr std::string_view kIpKeys[] = {"mb", "ic", "id", "ih", "iw", "oc"};
constexpr std::string_view kBnormKeys[] = {"mb", "ic", "id", "ih", "iw", "eps"};
constexpr std::string_view kGnormKeys[] = {"mb", "ic", "id", "ih", "iw", "eps", "g"};
constexpr std::string_view kLrnKeys[] = {"mb", "ic", "id", "ih", "iw", "ls", "alpha", "beta", "k"};
constexpr std::string_view kResamplingKeys[] = {"mb", "ic", "id", "ih", "iw", "od", "oh", "ow"};
constexpr std::string_view kRnnKeys[] = {"mb",  "sic", "slc", "dhc",
                                         "dic", "l",   "t"};  // no key begins another before it

std::span<const std::string_view> keys_of(Driver driver) {
  switch (driver) {
    case Driver::conv:
    case Driver::deconv: return kConvKeys;
    case Driver::pool: return kPoolKeys;
    case Driver::ip: return kIpKeys;
    case Driver::bnorm: return kBnormKeys;
    case Driver::gnorm: return kGnormKeys;
    case Driver::lrn: return kLrnKeys;
    case Driver::resampling: return kResamplingKeys;
    default: return kRnnKeys;
  }
}

double parse_real(std::string_view token, size_t& position, const Entry& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(token.data() + position, token.data() + token.size(), value);
  if (error != std::errc() || !(std::abs(value) < 1e30)) {
    refuse(where, token, fmt::format("no number at character {}; accepted: a decimal number", position + 1));
  }
  position = static_cast<size_t>(end - token.data());
  return value;
}

// The numbers as written; absent ones are not in the map.
struct Written {
  std::map<std::string_view, int64_t> numbers;
  std::map<std::string_view, double> reals;

  bool has(std::string_view key) const { return numbers.contains(key); }
  int64_t get(std::string_view key, int64_t otherwise) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second;
  }
};

bool is_real(std::string_view key) { return key == "eps" || key == "alpha" || key == "beta" || key == "k"; }

Written read_keys(std::string_view token, Entry& entry) {
  Written written;
  const auto keys = keys_of(entry.driver);
  entry.text = token;
  for (size_t at = 0; at < token.size();) {
    if (token[at] == '_') {
      ++at;
      continue;
    }
    if (token[at] == 'n') {
      entry.text = token.substr(0, at);
      if (entry.text.ends_with('_')) entry.text.pop_back();
      parse_name(token, token.substr(at + 1), entry);
      break;
    }
    const auto key = std::find_if(keys.begin(), keys.end(), [&](auto k) { return token.substr(at).starts_with(k); });
    if (key == keys.end()) {
      refuse(entry, token,
             fmt::format("character {} begins no size of {}; accepted: {}, n", at + 1, name(entry.driver),
                         fmt::join(keys, " ")));
    }
    at += key->size();
    if (is_real(*key)) {
      written.reals[*key] = parse_real(token, at, entry);
    } else {
      written.numbers[*key] = parse_number(token, at, entry);
    }
  }
  return written;
}

// One spatial dimension as written; -1 where nothing was.
struct Axis {
  int64_t in = -1, out = -1, kernel = -1, stride = -1, dilation = -1, pad = -1;
  bool given() const { return std::max({in, out, kernel, stride, dilation, pad}) >= 0; }
};

Axis axis_of(const Written& w, char letter) {
  const auto value = [&](char what) { return w.get(std::string{what, letter}, -1); };
  return {value('i'), value('o'), value('k'), value('s'), value('d'), value('p')};
}

// The axes that count, those of lower rank copied from the next higher when nothing is said of them.
int complete_axes(std::array<Axis, 3>& axes) {
  const auto first = std::find_if(axes.begin(), axes.end(), [](const Axis& a) { return a.given(); });
  for (auto it = first; it != axes.end(); ++it) {
    if (!it->given()) *it = *(it - 1);
  }
  return static_cast<int>(axes.end() - first);
}

int64_t narrow(Wide value, std::string_view token, const Entry& where) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (value > kMost || value < -Wide{kMost}) refuse(where, token, "a size past 2^63; accepted: smaller numbers");
  return static_cast<int64_t>(value);
}

// Windows (conv, deconv, pool): what of output and padding is missing follows from the rest.
void deduce_window(std::string_view token, const Axis& axis, int i, Entry& entry) {
  Sizes& s = entry.sizes;
  if (axis.in < 0 || axis.kernel < 0) refuse(entry, token, "every dimension needs its input and kernel size (ih, kh)");
  if (axis.stride == 0) refuse(entry, token, "stride 0; accepted: 1 and more");
  if (axis.kernel == 0) refuse(entry, token, "kernel size 0; accepted: 1 and more");
  const int64_t stride = std::max<int64_t>(axis.stride, 1), dilation = std::max<int64_t>(axis.dilation, 0);
  const Wide reach = (Wide{axis.kernel} - 1) * (Wide{dilation} + 1) + 1;
  narrow(reach, token, entry);
  const bool transposed = entry.driver == Driver::deconv;
  Wide out = axis.out, pad = axis.pad;
  if (axis.out < 0) {
    pad = std::max<int64_t>(axis.pad, 0);
    out = transposed ? (Wide{axis.in} - 1) * stride + reach - 2 * pad : (axis.in - reach + 2 * pad) / stride + 1;
  }
  const Wide small = transposed ? Wide{axis.in} : out, large = transposed ? out : Wide{axis.in};
  const Wide both = (small - 1) * stride - large + reach;  // begin and end padding together
  if (pad < 0) pad = both / 2;
  const bool fits = axis.out >= 0 || (transposed ? out >= 0 : axis.in + 2 * pad >= reach);
  if (!fits) refuse(entry, token, "the kernel is larger than the padded input");
  s.in[i] = axis.in, s.kernel[i] = axis.kernel, s.stride[i] = stride, s.dilation[i] = dilation;
  s.out[i] = narrow(out, token, entry);
  s.pad_begin[i] = narrow(pad, token, entry);
  s.pad_end[i] = narrow(both - pad, token, entry);
}

void deduce_spatial(std::string_view token, const Written& written, Entry& entry) {
  std::array<Axis, 3> axes{axis_of(written, 'd'), axis_of(written, 'h'), axis_of(written, 'w')};
  entry.sizes.spatial_rank = complete_axes(axes);
  const Driver d = entry.driver;
  const bool window = d == Driver::conv || d == Driver::deconv || d == Driver::pool;
  if (window && entry.sizes.spatial_rank == 0) refuse(entry, token, "no spatial size; accepted: id, ih or iw and k");
  for (int i = 3 - entry.sizes.spatial_rank; i < 3; ++i) {
    const Axis& axis = axes[static_cast<size_t>(i)];
    if (window) {
      deduce_window(token, axis, i, entry);
      continue;
    }
    if (axis.in < 0) refuse(entry, token, "every dimension needs its input size (ih)");
    if (d == Driver::resampling && axis.out < 0) refuse(entry, token, "every dimension needs its output size (oh)");
    entry.sizes.in[i] = axis.in;
    entry.sizes.out[i] = d == Driver::resampling ? axis.out : axis.in;
  }
}

void require(std::string_view token, const Written& written, const Entry& entry,
             std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) {
    if (!written.has(key))
      refuse(entry, token, fmt::format("no {}; {} needs {}", key, name(entry.driver), fmt::join(keys, ", ")));
  }
}

void check_groups(std::string_view token, const Entry& entry) {
  const Sizes& s = entry.sizes;
  if (s.g < 1 || s.ic % s.g != 0 || s.oc % s.g != 0) {
    refuse(entry, token, fmt::format("{} groups do not divide the channels", s.g));
  }
}

void fill_rnn(std::string_view token, const Written& w, Entry& entry) {
  require(token, w, entry, {"sic"});
  Sizes& s = entry.sizes;
  s.layers = w.get("l", 1), s.steps = w.get("t", 1);
  s.sic = w.get("sic", 0);
  s.slc = w.get("slc", s.sic), s.dhc = w.get("dhc", s.sic), s.dic = w.get("dic", s.dhc);
}

void fill_reals(const Written& w, Sizes& s) {
  const auto real = [&](std::string_view key, double& to) {
    if (const auto found = w.reals.find(key); found != w.reals.end()) to = found->second;
  };
  real("eps", s.eps), real("alpha", s.alpha), real("beta", s.beta), real("k", s.k);
}

}  // namespace

int64_t parse_number(std::string_view token, size_t& position, const Entry& where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data() + position, token.data() + token.size(), value);
  if (error != std::errc() || value < 0) {
    refuse(where, token,
           fmt::format("no size at character {}; accepted: a whole number from 0 to 2^63 - 1", position + 1));
  }
  position = static_cast<size_t>(end - token.data());
  return value;
}

void parse_name(std::string_view token, std::string_view name, Entry& entry) {
  if (name.starts_with('"')) name.remove_prefix(1);
  if (name.ends_with('"')) name.remove_suffix(1);
  const size_t star = name.rfind('*');
  const bool counted =
      star != name.npos && star + 1 < name.size() && name.find_first_not_of("0123456789", star + 1) == name.npos;
  if (counted) {
    size_t position = 0;
    entry.count = parse_number(name.substr(star + 1), position, entry);
    if (entry.count > 1'000'000) refuse(entry, token, "the multiplicity after '*'; accepted: up to 1000000");
    name = name.substr(0, star);
  }
  entry.name = name;
}

void parse_descriptor(std::string_view token, Entry& entry) {
  entry.sizes = {};
  const Written written = read_keys(token, entry);
  Sizes& s = entry.sizes;
  s.mb = written.get("mb", 2);
  s.g = written.get("g", 1);
  s.grouped = written.has("g");
  s.ic = written.get("ic", 0), s.oc = written.get("oc", s.ic);
  s.window = written.get("ls", 5);
  fill_reals(written, s);
  if (entry.driver == Driver::rnn) return fill_rnn(token, written, entry);
  const bool two = entry.driver == Driver::conv || entry.driver == Driver::deconv || entry.driver == Driver::ip;
  if (two) {
    require(token, written, entry, {"ic", "oc"});
  } else {
    require(token, written, entry, {"ic"});
  }
  check_groups(token, entry);
  deduce_spatial(token, written, entry);
}

}  // namespace trine::bench
