// Strided copies and gathers on devices: kernels/copy.cu.
#include <numeric>

#include "backends/cuda/rows/axes.h"

namespace trine::cuda {
namespace {

using namespace dnn;

// How many elements side by side can be one: up to 16 bytes of the last axis, which is contiguous on both sides.
int64_t widening(const std::vector<Axis>& axes, int64_t element_bytes) {
  if (axes.back().in != 1 || axes.back().out != 1) return 1;
  int64_t n = 16 / element_bytes;
  const auto divides = [&] {
    for (const Axis& a : axes)
      if (&a != &axes.back() && (a.in % n || a.out % n)) return false;
    return axes.back().size % n == 0;
  };
  while (n > 1 && !divides()) n /= 2;
  return n;
}

const CopyProblem& copy_of(const Problem& problem) { return std::get<CopyProblem>(problem); }

const char* copy_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const CopyProblem& p = copy_of(problem);
  if (p.dims.size() > kMostAxes) return "more than 16 dimensions";
  if (!word_name(p.element_bytes)) return "an element size other than 1, 2, 4, 8, 16";
  return element_count(p.dims) > kMostItems ? "2^31 elements or more" : nullptr;
}

DeviceCall copy_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const CopyProblem& p = copy_of(problem);
  DeviceCall call;
  if (element_count(p.dims) == 0) return call;
  std::vector<Axis> axes = axes_of(p.dims, p.in_strides, p.out_strides);
  const int64_t n = widening(axes, p.element_bytes);
  if (n > 1) {
    for (Axis& a : axes)
      if (&a != &axes.back()) a.in /= n, a.out /= n;
    axes.back().size /= n;
  }
  const CopySizes s = sizes_of(axes);
  const std::string kernel =
      fmt::format("trine::copy_elements<{}, {}>", word_name(p.element_bytes * n), word_name(p.element_bytes));
  call.launches.push_back(launch("copy.cu", kernel, blocks_of(s.items), {by_value(s), in(0), out(0)}));
  return call;
}

// What part of the memory's speed one thread an element comes to.
double copy_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const CopyProblem& p = copy_of(problem);
  const std::vector<Axis> axes = axes_of(p.dims, p.in_strides, p.out_strides);
  const int64_t run = p.element_bytes * widening(axes, p.element_bytes);
  const bool contiguous = axes.back().in == 1 && axes.back().out == 1;
  const double part =
      contiguous ? std::min(0.85, 0.2 + 0.1 * static_cast<double>(run)) : 0.02 * static_cast<double>(p.element_bytes);
  return streaming_seconds(bytes(problem), traits, part);
}

// The axis that is contiguous in the input while another is in the output, or -1.
int columns_of(const std::vector<Axis>& axes) {
  if (axes.size() < 2 || axes.back().out != 1 || axes.back().in == 1) return -1;
  for (size_t i = 0; i + 1 < axes.size(); ++i)
    if (axes[i].in == 1) return static_cast<int>(i);
  return -1;
}

const char* transpose_fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  if (const char* reason = copy_fits(row, problem, traits)) return reason;
  const CopyProblem& p = copy_of(problem);
  if (p.element_bytes > 8) return "elements of 16 bytes";
  const std::vector<Axis> axes = axes_of(p.dims, p.in_strides, p.out_strides);
  const int columns = columns_of(axes);
  if (columns < 0) return "no two axes that are contiguous on one side each";
  if (std::min(axes[static_cast<size_t>(columns)].size, axes.back().size) < 4) return "fewer than 4 rows or columns";
  return nullptr;
}

DeviceCall transpose_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const CopyProblem& p = copy_of(problem);
  DeviceCall call;
  if (element_count(p.dims) == 0) return call;
  std::vector<Axis> axes = axes_of(p.dims, p.in_strides, p.out_strides);
  std::rotate(axes.begin() + columns_of(axes), axes.begin() + columns_of(axes) + 1, axes.end() - 1);
  const CopySizes s = sizes_of(axes);
  const int64_t tile = p.element_bytes <= 2 ? 64 : 32;
  const Axis &rows = axes.back(), &columns = axes[axes.size() - 2];
  int64_t n = std::min<int64_t>(16 / p.element_bytes, tile / 8);
  while (n > 1 && (rows.in % n || columns.out % n)) n /= 2;
  const int64_t outer = element_count(p.dims) / rows.size / columns.size;
  const int64_t blocks = outer * ((rows.size + tile - 1) / tile) * ((columns.size + tile - 1) / tile);
  call.launches.push_back(launch("copy.cu",
                                 fmt::format("trine::copy_transposed<{}, {}>", word_name(p.element_bytes), n),
                                 blocks_of(blocks, 1), {by_value(s), in(0), out(0)}));
  return call;
}

double transpose_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const CopyProblem& p = copy_of(problem);
  const std::vector<Axis> axes = axes_of(p.dims, p.in_strides, p.out_strides);
  const auto filled = [](int64_t size) {  // of tiles of 64
    return static_cast<double>(size) / static_cast<double>((size + 63) / 64 * 64);
  };
  const int columns = columns_of(axes);
  const double part = 0.7 * filled(axes.back().size) * filled(axes[static_cast<size_t>(std::max(columns, 0))].size);
  return streaming_seconds(bytes(problem), traits, part);
}

const GatherProblem& gather_of(const Problem& problem) { return std::get<GatherProblem>(problem); }

int64_t piece_of(const GatherProblem& p) {
  int64_t bytes = 16;
  while (p.inner_bytes % bytes) bytes /= 2;
  return bytes;
}

const char* gather_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const GatherProblem& p = gather_of(problem);
  if (p.index != DType::i32 && p.index != DType::i64) return "indices other than i32 and i64";
  return p.inner_bytes && p.outer * p.count * (p.inner_bytes / piece_of(p)) > kMostItems ? "2^31 pieces or more"
                                                                                         : nullptr;
}

DeviceCall gather_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const GatherProblem& p = gather_of(problem);
  DeviceCall call;
  call.fault = fmt::format("gather: index {{}} outside [-{}, {}]", p.axis, p.axis - 1);
  if (p.outer * p.count * p.inner_bytes == 0) return call;
  const int64_t piece = piece_of(p), pieces = p.inner_bytes / piece;
  const GatherSizes s{p.axis, p.inner_bytes, divider_of(p.count), divider_of(pieces),
                      static_cast<unsigned>(p.outer * p.count * pieces)};
  call.launches.push_back(launch(
      "copy.cu", fmt::format("trine::gather<{}, {}>", word_name(piece), p.index == DType::i64 ? "long long" : "int"),
      blocks_of(s.items), {by_value(s), in(0), in(1), out(0), Role{Role::Kind::fault}}));
  return call;
}

double gather_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const GatherProblem& p = gather_of(problem);
  return streaming_seconds(2.0 * static_cast<double>(p.outer * p.count * p.inner_bytes), traits, 0.7);
}

const DeviceRow kCopies[] = {
    {.name = "copy_any_tiles",
     .op = OpKind::copy,
     .fits = transpose_fits,
     .cost = transpose_cost,
     .call = transpose_call},
    {.name = "copy_any_elements", .op = OpKind::copy, .fits = copy_fits, .cost = copy_cost, .call = copy_call},
    {.name = "gather_any_pieces", .op = OpKind::gather, .fits = gather_fits, .cost = gather_cost, .call = gather_call},
};
const RegisterDeviceRows registered(kCopies);

}  // namespace
}  // namespace trine::cuda
