// Tensors as dimension drivers write them: 'x' between sizes, ':' between tensors, then "_nNAME".
#include <fmt/format.h>

#include "descriptor.h"

namespace trine::bench {
namespace {

constexpr size_t kMaxRank = 12;  // oneDNN's
constexpr size_t kMaxTensors = 64;

size_t fewest_tensors(Driver driver) {
  switch (driver) {
    case Driver::sdpa: return 3;
    case Driver::matmul:
    case Driver::brgemm:
    case Driver::binary:
    case Driver::prelu:
    case Driver::reduction: return 2;
    default: return 1;
  }
}

void check_matmul(std::string_view token, const Entry& entry) {
  const auto& a = entry.tensors[0];
  const auto& b = entry.tensors[1];
  const bool ranks = a.size() >= 2 && a.size() == b.size();
  if (!ranks || a.back() != b[b.size() - 2]) {
    refuse(entry, token, "accepted: [BATCHx]MxK:[BATCHx]KxN with the same number of dimensions and the same K");
  }
  for (size_t i = 0; i + 2 < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) refuse(entry, token, "batch sizes that are neither equal nor 1");
  }
}

}  // namespace

void parse_tensors(std::string_view token, Entry& entry) {
  entry.tensors = {{}};
  entry.text = token;
  for (size_t at = 0;;) {
    if (entry.tensors.back().size() == kMaxRank) refuse(entry, token, "more than 12 dimensions");
    entry.tensors.back().push_back(parse_number(token, at, entry));
    if (at == token.size()) break;
    const char next = token[at];
    if (next == 'x') {
      ++at;
    } else if (next == ':') {
      ++at;
      if (entry.tensors.size() == kMaxTensors) refuse(entry, token, "more than 64 tensors");
      entry.tensors.emplace_back();
    } else if (token.substr(at).starts_with("_n") || next == 'n') {
      entry.text = token.substr(0, at);
      parse_name(token, token.substr(at + (next == '_' ? 2 : 1)), entry);
      break;
    } else {
      refuse(entry, token,
             fmt::format("character {}; accepted: digits, 'x' between sizes, ':' between tensors, _nNAME", at + 1));
    }
  }
  if (entry.tensors.size() < fewest_tensors(entry.driver)) {
    refuse(
        entry, token,
        fmt::format("{} tensors; {} needs {}", entry.tensors.size(), name(entry.driver), fewest_tensors(entry.driver)));
  }
  if (entry.driver == Driver::matmul || entry.driver == Driver::brgemm) check_matmul(token, entry);
}

}  // namespace trine::bench
