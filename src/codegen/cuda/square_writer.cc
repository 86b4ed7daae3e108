// Squares in shared memory: read in rows, used in columns.
#include <fmt/format.h>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/scalar_text.h"

namespace trine::codegen {

std::string KernelWriter::square(int id) const { return fmt::format("rows{}", id); }

// The block's threads go over the square, neighbours along loop `inner`: x of it, y of `outer`.
void KernelWriter::open_square(int inner, int outer) {
  out_.line("#pragma unroll 4");
  out_.open(fmt::format("for (int n = threadIdx.x; n < {}; n += {})", s_.edge * s_.edge, s_.block_x));
  out_.line(fmt::format("const int x = n % {0}, y = n / {0};", s_.edge));
  out_.line(fmt::format("const Index i{0} = square{0} + x, i{1} = square{1} + y;", inner, outer));
  const std::string a = sizes_.number(fmt::format("n{}", inner), loops_.extent(inner));
  const std::string b = sizes_.number(fmt::format("n{}", outer), loops_.extent(outer));
  out_.open(fmt::format("if (i{} < {} && i{} < {})", inner, a, outer, b));
}

void KernelWriter::squares() {
  std::set<int> crossing;
  for (size_t id = 0; id < k_.insts.size(); ++id)
    if (crosses(loops_, s_, k_.insts[id])) crossing.insert(static_cast<int>(id));
  for (int id : crossing) {
    // A row is a word longer: columns lie in different banks.
    const DType memory = loops_.operand_of(loops_.inst(id).access).dtype;
    const auto bytes = static_cast<int>(byte_size(memory));
    out_.line(fmt::format("__shared__ {} {}[{}][{}];", memory_type_text(memory), square(id), s_.edge,
                          s_.edge + (bytes < 4 ? 4 / bytes : 1)));
  }
  open_square(s_.read_along, s_.write_along);
  for (int id : crossing) {
    const int access = loops_.inst(id).access;
    out_.line(fmt::format("{}[y][x] = {}[{}];", square(id), pointer(access), address(access, false)));
  }
  out_.close();
  out_.close();
  out_.line("__syncthreads();");
  open_square(s_.write_along, s_.read_along);
  known_.emplace_back();
  path();
  row_block();
  known_.pop_back();
  out_.close();
  out_.close();
}

}  // namespace trine::codegen
