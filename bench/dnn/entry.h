// Entry: one line of a problem list, as benchdnn (oneDNN's benchmark) writes them: a driver, the options in force, and
// sizes. Plain values; to_problem.h turns what trine::dnn computes into a Problem.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trine::bench {

enum class Driver : uint8_t {
  // sizes behind letters: "mb1ic64ih56oc256oh56kh1ph0"
  conv,
  deconv,
  ip,
  pool,
  bnorm,
  gnorm,
  lrn,
  resampling,
  rnn,
  // tensors: "16x40x64:16x64x40"
  matmul,
  brgemm,
  binary,
  sum,
  concat,
  prelu,
  reduction,
  softmax,
  lnorm,
  eltwise,
  shuffle,
  reorder,
  zeropad,
  sdpa,
  // a file
  graph,
  none
};
constexpr Driver kFirstOfTensors = Driver::matmul;
std::string_view name(Driver driver);
Driver driver_named(std::string_view name);  // none when there is no such driver
std::string driver_names();                  // "conv, deconv, ..."

using Extents = std::array<int64_t, 3>;  // depth, height, width

// What the letters said, and what follows from them. Fields that a driver does not have keep their defaults.
struct Sizes {
  int64_t g = 1, mb = 2, ic = 0, oc = 0;
  bool grouped = false;  // "g1" was written: weights have a group dimension
  int spatial_rank = 0;  // 0..3
  Extents in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1};
  Extents dilation{0, 0, 0};                     // 0 is dense
  Extents pad_begin{0, 0, 0}, pad_end{0, 0, 0};  // the end follows from the rest; it may be negative
  int64_t window = 5;                            // lrn
  double eps = 1.0 / 16, alpha = 1.0 / 8192, beta = 0.75, k = 1;
  int64_t layers = 1, steps = 1, sic = 0, slc = 0, dhc = 0, dic = 0;  // rnn
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

struct Entry {
  Driver driver = Driver::none;
  std::map<std::string, std::string> options;  // only what the list sets; names with '-', without "--"
  std::string text;                            // the descriptor as written, without its name
  std::string name;                            // without quotes and multiplicity
  int64_t count = 1;                           // times it occurs in its network: name*4
  Sizes sizes;                                 // letters
  std::vector<std::vector<int64_t>> tensors;   // dimension drivers
  std::string list;                            // the list that the caller named, which may include others
  std::string file;
  int line = 0;

  // The value of an option, or what benchdnn takes when the list says nothing.
  std::string option(const std::string& name, const std::string& otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
  }
};

// `mb` samples instead of the list's. Tensors do not say how many samples they hold: they get mb times as many rows
// (matmul) or batches (sdpa), which is the same in lists of one sample.
void set_batch(Entry& entry, int64_t mb);

// "a:b::c" -> a, b, "", c.
std::vector<std::string> split(std::string_view text, char separator);

// "file:line: token: what; accepted": every complaint about a list.
[[noreturn]] void refuse(const Entry& where, std::string_view token, std::string_view what);

}  // namespace trine::bench
