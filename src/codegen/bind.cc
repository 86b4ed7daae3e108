// Binding a kernel to sizes, and running it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/checked.h"
#include "codegen/program.h"
#include "codegen/scalar_math.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

constexpr int64_t kVectorUnit = 1024;  // elements of a vector loop that make one unit of work
constexpr double kWorthAThread_ns = 5000;
constexpr size_t kMaxOperands = 128;

int64_t evaluate(const Dim& d, const Bindings& bindings) {
  if (auto v = d.evaluate(bindings)) return *v;
  throw Error(ErrorCode::invalid_argument, "loop kernel: the size " + d.text() + " has no value; bind every symbol");
}

// Memory that belongs to the calling thread and only grows.
char* thread_memory(size_t bytes) {
  struct Memory {
    char* data = nullptr;
    size_t bytes = 0;
    ~Memory() { std::free(data); }
  };
  thread_local Memory memory;
  if (memory.bytes < bytes) {
    std::free(memory.data);
    memory.bytes = 0;
    memory.data = static_cast<char*>(std::aligned_alloc(64, (bytes + 63) & ~size_t{63}));
    if (!memory.data) throw Error(ErrorCode::out_of_memory, "loop kernel: no memory for its row buffers");
    memory.bytes = bytes;
  }
  return memory.data;
}

void collect_fold_loops(const LoopKernel& k, std::vector<std::vector<int>>& lists) {
  for (const Inst& i : k.insts) {
    if (i.kind == InstKind::reduce) lists.push_back(i.loops);
  }
}

class Merger {
 public:
  Merger(const LoopKernel& k, Numbers& n) : k_(k), n_(n) { collect_fold_loops(k, folds_); }

  void run() {
    for (size_t i = 1; i < k_.nest.size(); ++i) merge(k_.nest[i - 1], k_.nest[i]);  // outermost first: runs add up
    for (const auto& loops : folds_) {
      for (size_t i = 1; i < loops.size(); ++i) merge(loops[i - 1], loops[i]);
    }
  }

 private:
  int64_t& extent(int l) { return n_.extents[static_cast<size_t>(l)]; }

  // Loop b takes over a's iterations where every access allows it and every fold that runs over one runs over both.
  void merge(int a, int b) {
    if (extent(a) == 1) return;
    const bool a_in_nest = std::find(k_.nest.begin(), k_.nest.end(), a) != k_.nest.end();
    const bool b_in_nest = std::find(k_.nest.begin(), k_.nest.end(), b) != k_.nest.end();
    if (a_in_nest != b_in_nest) return;
    if (a_in_nest) {
      const auto at = std::find(k_.nest.begin(), k_.nest.end(), a);
      if (at + 1 == k_.nest.end() || at[1] != b) return;
      if (at + 1 - k_.nest.begin() == k_.parallel) return;
    }
    for (const auto& loops : folds_) {
      const auto at_a = std::find(loops.begin(), loops.end(), a), at_b = std::find(loops.begin(), loops.end(), b);
      if ((at_a == loops.end()) != (at_b == loops.end())) return;
      if (at_a != loops.end() && at_a + 1 != at_b) return;
    }
    for (size_t i = 0; i < k_.accesses.size(); ++i) {
      const int access = static_cast<int>(i);
      if (n_.stride(access, a) != n_.stride(access, b) * extent(b)) return;
    }
    extent(b) *= extent(a);
    extent(a) = 1;
  }

  const LoopKernel& k_;
  Numbers& n_;
  std::vector<std::vector<int>> folds_;
};

// A guess at the nanoseconds that one element of the output costs.
double element_cost(const LoopKernel& k) {
  double cost = 0;
  for (const Inst& i : k.insts) {
    if (!k.is_vector(i)) continue;
    const bool function = i.kind == InstKind::unary && i.op >= ScalarOp::exp && i.op <= ScalarOp::erf;
    cost += function ? 0.2 : 0.05;
  }
  return std::max(cost, 0.1);
}

}  // namespace

Numbers numbers_of(const LoopKernel& kernel, const Bindings& bindings) {
  Numbers n;
  n.loops = kernel.extents.size();
  for (const Dim& d : kernel.extents) n.extents.push_back(std::max<int64_t>(evaluate(d, bindings), 0));
  for (const Access& a : kernel.accesses) {
    n.accesses.push_back(evaluate(a.offset, bindings));
    for (const Dim& d : a.strides) n.accesses.push_back(evaluate(d, bindings));
  }
  Merger(kernel, n).run();
  return n;
}

struct BoundKernel::State {
  struct Source {
    Operand::Kind kind;
    int index;
    const void* constant;
    size_t scratch;  // offset in the thread's memory
  };
  // How a load or store moves with the outermost loop: [low, high] are the bytes it reaches in that loop's first
  // iteration, `step` those from one iteration to the next.
  struct Reach {
    int operand;
    bool dynamic;  // where it reaches, only data tell
    int64_t low, high, step;
  };
  Numbers numbers;
  std::vector<Source> sources;
  std::vector<Reach> reaches;
  int64_t outermost = 1;          // iterations of the first loop that runs more than once
  int64_t per_unit = 1;           // of them, in a unit
  std::vector<Tensor> constants;  // keeps them alive
  std::vector<int64_t> counts;    // units of each parallel loop
  int64_t unit = 1;               // iterations of the last parallel loop in one unit
  int64_t last_extent = 1;
  int64_t units = 0;
  int64_t grain = 1;
  size_t scratch_bytes = 0;
  LoopEntry entry = nullptr;
  interp::Program program;  // when there is no entry

  void run(void* const* operands, char* memory, int64_t begin, int64_t end) const;
};

namespace {

// Loads of a dynamic place, by access.
std::vector<bool> dynamic_accesses(const LoopKernel& k) {
  std::vector<bool> dynamic(k.accesses.size());
  for (const Inst& i : k.insts)
    if (i.kind == InstKind::load && i.a >= 0) dynamic[static_cast<size_t>(i.access)] = true;
  return dynamic;
}

void note_reaches(const LoopKernel& k, BoundKernel::State& s) {
  int outer = -1;
  for (int i = 0; i < k.parallel && outer < 0; ++i)
    if (s.numbers.extents[static_cast<size_t>(k.nest[static_cast<size_t>(i)])] > 1)
      outer = k.nest[static_cast<size_t>(i)];
  if (outer < 0) return;
  s.outermost = s.numbers.extents[static_cast<size_t>(outer)];
  if (outer == k.nest[static_cast<size_t>(k.parallel - 1)]) s.per_unit = s.unit;
  const std::vector<bool> dynamic = dynamic_accesses(k);
  for (size_t i = 0; i < k.accesses.size(); ++i) {
    const int operand = k.accesses[i].operand;
    if (operand < 0) continue;
    const auto bytes = static_cast<int64_t>(byte_size(k.operands[static_cast<size_t>(operand)].dtype));
    const int access = static_cast<int>(i);
    int64_t low = s.numbers.offset(access), high = low;
    for (size_t l = 0; l < s.numbers.loops; ++l) {
      if (static_cast<int>(l) == outer) continue;
      const int64_t far = s.numbers.stride(access, static_cast<int>(l)) * (s.numbers.extents[l] - 1);
      (far < 0 ? low : high) += far;
    }
    s.reaches.push_back({operand, dynamic[i], low * bytes, high * bytes, s.numbers.stride(access, outer) * bytes});
  }
}

}  // namespace

BoundKernel bind(const LoopKernel& kernel, const Bindings& bindings, LoopEntry entry) {
  auto s = std::make_shared<BoundKernel::State>();
  s->numbers = numbers_of(kernel, bindings);
  s->entry = entry;
  for (const Operand& o : kernel.operands) {
    s->sources.push_back({o.kind, o.index, o.constant.data(), s->scratch_bytes});
    if (o.kind == Operand::Kind::constant) s->constants.push_back(o.constant);
    if (o.kind == Operand::Kind::scratch) {
      const int64_t bytes = checked_mul(evaluate(o.elements, bindings), static_cast<int64_t>(byte_size(o.dtype)));
      s->scratch_bytes += static_cast<size_t>((bytes + 127) & ~int64_t{63});
    }
  }
  if (s->sources.size() > kMaxOperands)
    throw Error(ErrorCode::unsupported, "loop kernel: more than 128 operands; split the group");
  int64_t per_unit = 1;
  s->units = 1;
  for (int i = 0; i < kernel.parallel; ++i) {
    const int l = kernel.nest[static_cast<size_t>(i)];
    int64_t count = s->numbers.extents[static_cast<size_t>(l)];
    if (i + 1 == kernel.parallel) {
      s->last_extent = count;
      if (kernel.vector_loops & loop_bit(l)) s->unit = kVectorUnit;
      count = (count + s->unit - 1) / s->unit;
    }
    s->counts.push_back(count);
    s->units = checked_mul(s->units, count);
  }
  for (size_t i = static_cast<size_t>(kernel.parallel); i < kernel.nest.size(); ++i) {
    const int64_t extent = s->numbers.extents[static_cast<size_t>(kernel.nest[i])];
    per_unit *= std::max<int64_t>(extent, 1);
  }
  const double unit_ns = element_cost(kernel) * static_cast<double>(per_unit) *
                         static_cast<double>(std::min(s->unit, std::max<int64_t>(s->last_extent, 1)));
  s->grain = std::max<int64_t>(1, static_cast<int64_t>(kWorthAThread_ns / unit_ns));
  note_reaches(kernel, *s);
  if (!entry) s->program = interp::translate(kernel, s->numbers);
  BoundKernel bound;
  bound.state_ = std::move(s);
  return bound;
}

int64_t BoundKernel::units() const { return state_->units; }
int64_t BoundKernel::grain() const { return state_->grain; }
bool BoundKernel::compiled() const { return state_->entry != nullptr; }

bool BoundKernel::divides(int64_t parts, std::span<const int64_t> input_bytes,
                          std::span<const int64_t> output_bytes) const {
  const State& s = *state_;
  if (s.outermost % parts != 0 || s.outermost / parts % s.per_unit != 0) return false;
  return std::all_of(s.reaches.begin(), s.reaches.end(), [&](const State::Reach& r) {
    const auto& source = s.sources[static_cast<size_t>(r.operand)];
    const bool output = source.kind == Operand::Kind::output;
    if (!output && source.kind != Operand::Kind::input) return true;
    const int64_t bytes = (output ? output_bytes : input_bytes)[static_cast<size_t>(source.index)];
    if (bytes == 0) return !output;
    return !r.dynamic && r.low >= 0 && r.high < r.step && r.step * s.outermost == bytes;
  });
}

void BoundKernel::run(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t begin,
                      int64_t end) const {
  const State& s = *state_;
  if (begin >= end) return;
  const size_t executor = s.entry ? 0 : interp::Executor::memory_bytes(s.program);
  char* memory = thread_memory(s.scratch_bytes + executor + 64);
  std::array<void*, kMaxOperands> operands;
  for (size_t i = 0; i < s.sources.size(); ++i) {
    const auto& source = s.sources[i];
    switch (source.kind) {
      case Operand::Kind::input: operands[i] = const_cast<void*>(inputs[static_cast<size_t>(source.index)]); break;
      case Operand::Kind::output: operands[i] = outputs[static_cast<size_t>(source.index)]; break;
      case Operand::Kind::constant: operands[i] = const_cast<void*>(source.constant); break;
      case Operand::Kind::scratch: operands[i] = memory + source.scratch; break;
    }
  }
  s.run(operands.data(), memory + s.scratch_bytes, begin, end);
}

// Cuts [begin, end) into pieces that lie in one run of the last parallel loop.
void BoundKernel::State::run(void* const* operands, char* memory, int64_t begin, int64_t end) const {
  std::array<int64_t, kMaxLoops> at{};
  LoopArgs args{operands, numbers.extents.data(), numbers.accesses.data(), at.data(), 0, 1, math_table()};
  std::optional<interp::Executor> executor;
  if (!entry) executor.emplace(program, operands, memory);
  const int64_t row = counts.empty() ? 1 : counts.back();
  for (int64_t u = begin; u < end;) {
    int64_t outer = u / row;
    const int64_t first = u % row, count = std::min(row - first, end - u);
    for (size_t i = counts.size() > 1 ? counts.size() - 1 : 0; i-- > 0;) {
      at[i] = outer % counts[i];
      outer /= counts[i];
    }
    args.begin = first * unit;
    args.end = std::min((first + count) * unit, last_extent);
    if (entry) entry(&args);
    else executor->run(at.data(), args.begin, args.end);
    u += count;
  }
}

bool may_share_memory(const LoopKernel& kernel, int input, int output) {
  const Access* written = nullptr;
  for (const Access& a : kernel.accesses) {
    if (a.operand < 0) continue;
    const Operand& o = kernel.operands[static_cast<size_t>(a.operand)];
    if (o.kind == Operand::Kind::output && o.index == output) written = &a;
  }
  for (const Inst& i : kernel.insts) {
    if (i.kind != InstKind::load) continue;
    const Access& read = kernel.accesses[static_cast<size_t>(i.access)];
    const Operand& o = kernel.operands[static_cast<size_t>(read.operand)];
    if (o.kind != Operand::Kind::input || o.index != input) continue;
    if (!written || i.a >= 0 || read.offset != written->offset || read.strides != written->strides) return false;
  }
  return true;
}

}  // namespace trine::codegen
