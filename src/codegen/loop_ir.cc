// Numbering, hashing and printing of loop kernels.
#include "codegen/loop_ir.h"

#include <fmt/format.h>

#include "codegen/schedule.h"

namespace trine::codegen {
namespace {

// Gives new numbers in order of first use, so that equal kernels get equal numbers.
class Numbering {
 public:
  explicit Numbering(LoopKernel& from) : from_(from) {
    inst_.assign(from.insts.size(), -1);
    access_.assign(from.accesses.size(), -1);
    operand_.assign(from.operands.size(), -1);
    loop_.assign(from.extents.size(), -1);
  }

  void run() {
    for (int& l : from_.nest) l = loop(l);
    block(from_.body);
    for (Access& a : to_.accesses) {
      std::vector<Dim> strides(to_.extents.size());
      for (size_t l = 0; l < a.strides.size(); ++l) {
        if (loop_[l] >= 0) strides[static_cast<size_t>(loop_[l])] = a.strides[l];
      }
      a.strides = std::move(strides);
    }
    for (Inst& i : to_.insts) i.deps = loops(i.deps);
    to_.vector_loops = loops(from_.vector_loops);
    to_.nest = from_.nest;
    to_.parallel = from_.parallel;
    to_.body = std::move(from_.body);
    from_ = std::move(to_);
  }

 private:
  LoopSet loops(LoopSet old) const {
    LoopSet now = 0;
    for (size_t l = 0; l < loop_.size(); ++l) {
      if ((old & loop_bit(static_cast<int>(l))) && loop_[l] >= 0) now |= loop_bit(loop_[l]);
    }
    return now;
  }

  int loop(int old) {
    int& n = loop_[static_cast<size_t>(old)];
    if (n < 0) {
      n = static_cast<int>(to_.extents.size());
      to_.extents.push_back(from_.extents[static_cast<size_t>(old)]);
    }
    return n;
  }

  int access(int old) {
    if (old < 0) return -1;
    int& n = access_[static_cast<size_t>(old)];
    if (n >= 0) return n;
    n = static_cast<int>(to_.accesses.size());
    Access a = from_.accesses[static_cast<size_t>(old)];
    if (a.operand >= 0) {
      int& o = operand_[static_cast<size_t>(a.operand)];
      if (o < 0) {
        o = static_cast<int>(to_.operands.size());
        to_.operands.push_back(from_.operands[static_cast<size_t>(a.operand)]);
        if (to_.operands.back().kind == Operand::Kind::scratch) to_.operands.back().index = scratches_++;
      }
      a.operand = o;
    }
    to_.accesses.push_back(std::move(a));
    return n;
  }

  int inst(int old) {
    if (old < 0) return -1;
    int& n = inst_[static_cast<size_t>(old)];
    if (n >= 0) return n;
    Inst i = from_.insts[static_cast<size_t>(old)];
    if (i.kind != InstKind::reduce) i.a = inst(i.a);
    i.b = inst(i.b);
    i.c = inst(i.c);
    i.access = access(i.access);
    for (int& l : i.loops) l = loop(l);
    n = inst_[static_cast<size_t>(old)] = static_cast<int>(to_.insts.size());
    to_.insts.push_back(std::move(i));
    return n;
  }

  void block(Block& b) {
    for (Step& s : b) {
      if (s.loop >= 0) s.loop = loop(s.loop);
      block(s.body);
      const int old = s.inst;
      s.inst = inst(old);
      // A fold's value is numbered inside its body, where it is computed.
      if (s.kind == Step::Kind::fold)
        to_.insts[static_cast<size_t>(s.inst)].a = inst(from_.insts[static_cast<size_t>(old)].a);
      s.access = access(s.access);
    }
  }

  LoopKernel& from_;
  LoopKernel to_;
  std::vector<int> inst_, access_, operand_, loop_;
  int scratches_ = 0;
};

class Hasher {
 public:
  explicit Hasher(const LoopKernel& k) : k_(k) {}

  uint64_t run() {
    add(k_.extents.size());
    add(k_.vector_loops);
    add(static_cast<uint64_t>(k_.parallel));
    for (int l : k_.nest) add(static_cast<uint64_t>(l));
    for (const Operand& o : k_.operands) add(static_cast<uint64_t>(o.dtype) << 8 | static_cast<uint64_t>(o.kind));
    for (const Access& a : k_.accesses) {
      add(static_cast<uint64_t>(a.operand));
      for (size_t l = 0; l < a.strides.size(); ++l) add(static_cast<uint64_t>(k_.stride_class(a, static_cast<int>(l))));
    }
    for (const Inst& i : k_.insts) inst(i);
    block(k_.body);
    return h_;
  }

 private:
  void add(uint64_t v) {
    h_ = (h_ ^ v) * 0x9e3779b97f4a7c15;
    h_ ^= h_ >> 29;
  }
  void inst(const Inst& i) {
    add(static_cast<uint64_t>(i.kind) | static_cast<uint64_t>(i.op) << 8 | static_cast<uint64_t>(i.fold) << 16 |
        static_cast<uint64_t>(i.type) << 24 | static_cast<uint64_t>(i.to) << 32);
    for (int v : {i.a, i.b, i.c, i.access}) add(static_cast<uint64_t>(v));
    add(i.bits);
    for (int l : i.loops) add(static_cast<uint64_t>(l));
    add(i.deps);
  }
  void block(const Block& b) {
    add(b.size());
    for (const Step& s : b) {
      add(static_cast<uint64_t>(s.kind));
      for (int v : {s.inst, s.loop, s.access}) add(static_cast<uint64_t>(v));
      block(s.body);
    }
  }

  const LoopKernel& k_;
  uint64_t h_ = 0x5472696e65;
};

// Names for printing.
constexpr const char* kOps[] = {
    "neg",        "abs",         "sign",        "sqrt",       "reciprocal", "exp",         "log",        "sin",
    "cos",        "tan",         "asin",        "acos",       "atan",       "sinh",        "cosh",       "tanh",
    "asinh",      "acosh",       "atanh",       "erf",        "floor",      "ceil",        "round",      "trunc",
    "is_nan",     "is_inf",      "logical_not", "bit_not",    "add",        "sub",         "mul",        "div",
    "mod",        "fmod",        "pow",         "min",        "max",        "bit_and",     "bit_or",     "bit_xor",
    "shift_left", "shift_right", "less",        "less_equal", "equal",      "logical_and", "logical_or", "logical_xor"};
constexpr const char* kFolds[] = {"sum", "prod", "min", "max", "any", "all"};

std::string access_text(const Access& a) {
  std::string out = a.operand < 0 ? "" : fmt::format("{}", a.operand) + "[";
  out += a.offset.text();
  for (size_t l = 0; l < a.strides.size(); ++l) {
    if (a.strides[l] != Dim(0)) out += fmt::format(" + {}*i{}", a.strides[l].text(), l);
  }
  return a.operand < 0 ? out : out + "]";
}

std::string inst_text(const LoopKernel& k, int id) {
  const Inst& i = k.insts[static_cast<size_t>(id)];
  const std::string head = fmt::format("%{}: {} = ", id, name(i.type));
  switch (i.kind) {
    case InstKind::constant: return head + fmt::format("0x{:x}", i.bits);
    case InstKind::index: return head + "index " + access_text(k.accesses[static_cast<size_t>(i.access)]);
    case InstKind::load: {
      std::string out = head + "load " + access_text(k.accesses[static_cast<size_t>(i.access)]);
      if (i.a >= 0) out += fmt::format(" at %{}", i.a);
      if (i.b >= 0) out += fmt::format(" if %{} else %{}", i.b, i.c);
      return out;
    }
    case InstKind::unary: return head + fmt::format("{} %{}", kOps[static_cast<int>(i.op)], i.a);
    case InstKind::binary: return head + fmt::format("{} %{} %{}", kOps[static_cast<int>(i.op)], i.a, i.b);
    case InstKind::select: return head + fmt::format("select %{} %{} %{}", i.a, i.b, i.c);
    case InstKind::cast: return head + fmt::format("cast %{} to {}", i.a, name(i.to));
    case InstKind::reduce: return head + fmt::format("{} of %{}", kFolds[static_cast<int>(i.fold)], i.a);
  }
  return head;
}

void block_text(const LoopKernel& k, const Block& b, int depth, std::string& out) {
  for (const Step& s : b) {
    out.append(static_cast<size_t>(2 * depth), ' ');
    switch (s.kind) {
      case Step::Kind::compute:
        out += s.access < 0
                   ? inst_text(k, s.inst)
                   : fmt::format("%{} = read back {}", s.inst, access_text(k.accesses[static_cast<size_t>(s.access)]));
        break;
      case Step::Kind::loop:
        out += fmt::format("for i{} < {}{}:", s.loop, k.extents[static_cast<size_t>(s.loop)].text(),
                           k.vector_loops & loop_bit(s.loop) ? " as vectors" : "");
        break;
      case Step::Kind::reduce: out += inst_text(k, s.inst) + ":"; break;
      case Step::Kind::fold: out += fmt::format("fold %{}", k.insts[static_cast<size_t>(s.inst)].a); break;
      case Step::Kind::store:
        out += fmt::format("store {} = %{}", access_text(k.accesses[static_cast<size_t>(s.access)]), s.inst);
        break;
    }
    out += '\n';
    block_text(k, s.body, depth + 1, out);
  }
}

}  // namespace

void number(LoopKernel& kernel) {
  Numbering(kernel).run();
  kernel.hash = Hasher(kernel).run();
}

StrideClass LoopKernel::stride_class(const Access& access, int loop) const {
  const Dim& stride = access.strides[static_cast<size_t>(loop)];
  if (stride == Dim(0)) return StrideClass::zero;
  return (vector_loops & loop_bit(loop)) && stride == Dim(1) ? StrideClass::one : StrideClass::other;
}

std::string LoopKernel::text() const {
  constexpr const char* kKinds[] = {"input", "output", "constant", "scratch"};
  std::string out = fmt::format("kernel {:016x}, {} of {} loops parallel\n", hash, parallel, nest.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    out += fmt::format("  {}: {} {} {}\n", i, kKinds[static_cast<int>(operands[i].kind)], operands[i].index,
                       name(operands[i].dtype));
  }
  block_text(*this, body, 1, out);
  return out;
}

}  // namespace trine::codegen
