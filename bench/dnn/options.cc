#include "options.h"

#include <fmt/format.h>

#include <algorithm>

namespace trine::bench {
namespace {

constexpr size_t kMostCombinations = 4096;

enum class Kind : uint8_t {
  list,    // comma separates alternatives
  whole,   // commas belong to the value
  common,  // as whole, and not put back by --reset
};

struct Option {
  std::string_view name;
  std::string_view accepted = "";  // words, separated by ' '; empty: anything
  Kind kind = Kind::list;
};

constexpr std::string_view kDirections = "FWD_B FWD_D FWD_I BWD_D BWD_W BWD_WB BWD_DW";

// Names are compared with '_' and '-' alike, as benchdnn has both.
constexpr Option kOptions[] = {
    {"dir", kDirections},
    {"prop", kDirections},
    {"dt"},
    {"sdt"},
    {"ddt"},
    {"cfg"},
    {"stag"},
    {"wtag"},
    {"dtag"},
    {"tag"},
    {"strides"},
    {"alg"},  // by driver, below
    {"direction", "left2right right2left concat sum"},
    {"activation"},
    {"flags"},
    {"bia-dt"},
    {"bia-mask"},
    {"bia-tag"},
    {"ss-dt"},
    {"stat-tag"},
    {"stat-dt"},
    {"p"},
    {"eps"},
    {"alpha"},
    {"beta"},
    {"group"},
    {"scales"},
    {"oflag"},
    {"cross-engine"},
    {"skip-nonlinear"},
    {"trivial-strides"},
    {"with-peephole"},
    {"with-projection"},
    {"scratchpad-mode"},
    {"scaling"},
    {"mask-type"},
    {"num-heads"},
    {"runtime-dims-masks"},
    {"runtime-dim-mask"},
    {"runtime-mb"},
    {"runtime-m"},
    {"runtime-n"},
    {"runtime-k"},
    {"grouped", "", Kind::whole},
    {"encoding"},
    {"sparse-encoding"},
    {"axis"},
    {"inplace"},
    {"mb"},
    {"hints"},
    {"ld"},
    {"batch-size"},
    {"brgemm-attr"},
    {"batch-kind"},
    {"match", "", Kind::whole},
    {"skip-impl", "", Kind::whole},
    {"impl", "", Kind::whole},
    {"case", "", Kind::whole},
    {"in-shapes", "", Kind::whole},
    {"op-attrs", "", Kind::whole},
    {"op-kind", "", Kind::whole},
    {"expected-n-partitions"},
    {"attr-scales"},
    {"attr-zero-points"},
    {"attr-precomputed-reductions"},
    {"attr-post-ops"},
    {"attr-fpmath"},
    {"attr-acc-mode"},
    {"attr-deterministic"},
    {"attr-dropout"},
    {"attr-scratchpad"},
    {"attr-rounding-mode"},
    {"attr-oscale"},
    {"attr-same-pd-check"},
    {"mode", "", Kind::common},
    {"mode-modifier", "", Kind::common},
    {"cold-cache", "", Kind::common},
    {"fix-times-per-prb", "", Kind::common},
    {"max-ms-per-prb", "", Kind::common},
    {"num-streams", "", Kind::common},
    {"repeats-per-prb", "", Kind::common},
    {"perf-template", "", Kind::common},
    {"engine", "", Kind::common},
    {"cpu-isa-hints", "", Kind::common},
    {"memory-kind", "", Kind::common},
    {"check-ref-impl", "", Kind::common},
    {"fast-ref", "", Kind::common},
    {"allow-enum-tags-only", "", Kind::common},
    {"canonical", "", Kind::common},
    {"mem-check", "", Kind::common},
    {"global-impl", "", Kind::common},
    {"start", "", Kind::common},
    {"execution-mode", "", Kind::common},
    {"stream-kind", "", Kind::common},
    {"ctx-init", "", Kind::common},
    {"ctx-exe", "", Kind::common},
    {"verbose", "", Kind::common},
    {"summary", "", Kind::common},
};

std::string_view algorithms(Driver driver) {
  switch (driver) {
    case Driver::conv:
    case Driver::deconv: return "direct wino auto convolution_direct convolution_winograd convolution_auto";
    case Driver::pool: return "max avg_np avg_p pooling_max pooling_avg_include_padding pooling_avg_exclude_padding";
    case Driver::rnn: return "VANILLA_RNN VANILLA_LSTM VANILLA_GRU LBR_GRU VANILLA_AUGRU LBR_AUGRU";
    case Driver::lrn: return "ACROSS WITHIN lrn_across_channels lrn_within_channel";
    case Driver::resampling: return "nearest linear resampling_nearest resampling_linear";
    case Driver::softmax: return "SOFTMAX LOGSOFTMAX softmax_accurate softmax_log softmax_accurate_inf_as_zero";
    default: return "";
  }
}

std::string plain_name(std::string_view name) {
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), '_', '-');
  return plain;
}

const Option* find_option(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& o) { return o.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_among(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (same_word(word, words.substr(0, end))) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool is_common(const std::string& name) { return find_option(name)->kind == Kind::common; }

}  // namespace

void OptionState::set(std::string_view token, const Entry& where) {
  const size_t equals = token.find('=');
  const std::string name = plain_name(token.substr(2, std::min(equals, token.size()) - 2));
  const Option* option = find_option(name);
  if (!option) {
    std::vector<std::string_view> names;
    for (const Option& o : kOptions) names.push_back(o.name);
    refuse(where, token,
           fmt::format("no such option; accepted: --reset, --batch=FILE, a driver (--conv, --matmul), --{}",
                       fmt::join(names, ", --")));
  }
  if (equals == token.npos) refuse(where, token, fmt::format("no value; accepted: --{}=VALUE", name));
  const std::string_view value = token.substr(equals + 1);
  auto values = option->kind == Kind::list ? split(value, ',') : std::vector<std::string>{std::string(value)};
  const std::string_view accepted = name == "alg" ? algorithms(where.driver) : option->accepted;
  for (const std::string& v : values) {
    if (!accepted.empty() && !is_among(v, accepted))
      refuse(where, token, fmt::format("'{}'; accepted: {}", v, accepted));
  }
  values_[name] = std::move(values);
}

void OptionState::reset() {
  std::erase_if(values_, [](const auto& item) { return !is_common(item.first); });
}

std::vector<std::map<std::string, std::string>> OptionState::combinations(const Entry& where) const {
  std::vector<std::map<std::string, std::string>> all(1);
  for (const auto& [name, values] : values_) {
    if (all.size() * values.size() > kMostCombinations) {
      refuse(where, "--" + name,
             fmt::format("more than {} combinations of options; name fewer values", kMostCombinations));
    }
    std::vector<std::map<std::string, std::string>> longer;
    for (const auto& one : all) {
      for (const std::string& value : values) {
        longer.push_back(one);
        longer.back()[name] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace trine::bench
