// Translates a bound kernel into interpreter functions.
#include "codegen/program.h"

#include <algorithm>

#include "codegen/scalar_types.h"
#include "trine/base/error.h"

namespace trine::codegen::interp {
namespace {

Run find(const Query& q) {
  Run run = nullptr;
  switch (cpu_level()) {
    case CpuLevel::avx512: run = find_avx512(q); break;
    case CpuLevel::avx2: run = find_avx2(q); break;
    case CpuLevel::baseline: run = find_baseline(q); break;
  }
  if (!run && q.kind != Kind::cast_after && q.kind != Kind::aim) {
    throw Error(ErrorCode::unsupported, "loop kernel: an operation has no function for scalars of type " +
                                            std::string(name(q.type)) + "; run the operator on the host");
  }
  return run;
}

class Translator {
 public:
  Translator(const LoopKernel& k, const Numbers& n, Program& p) : k_(k), n_(n), p_(p) {}

  std::vector<Node> block(const Block& steps) {
    std::vector<Node> nodes;
    for (const Step& s : steps) {
      switch (s.kind) {
        case Step::Kind::compute:
          nodes.push_back({.op = s.access < 0 ? compute(s.inst) : read_back(s), .body = {}});
          break;
        case Step::Kind::store:
          aim(nodes, s);
          nodes.push_back({.op = store(s), .body = {}});
          break;
        case Step::Kind::fold: nodes.push_back({.op = fold(s.inst, join_kind(s.inst)), .body = {}}); break;
        case Step::Kind::reduce: nodes.push_back(reduce(s)); break;
        case Step::Kind::loop: {
          const bool vector = (k_.vector_loops & loop_bit(s.loop)) != 0;
          nodes.push_back({.kind = vector ? Node::Kind::vector_loop : Node::Kind::loop,
                           .op = {},
                           .loop = s.loop,
                           .body = block(s.body)});
          break;
        }
      }
    }
    return nodes;
  }

 private:
  const Inst& inst(int id) const { return k_.insts[static_cast<size_t>(id)]; }
  bool is_vector(int id) const { return id >= 0 && k_.is_vector(inst(id)); }

  Op result(int id) const {
    const Inst& i = inst(id);
    Op op;
    op.dst = id;
    op.vector = k_.is_vector(i);
    op.slot = p_.slots[static_cast<size_t>(id)];
    op.a = i.a, op.b = i.b, op.c = i.c;
    op.vector_a = is_vector(i.a), op.vector_b = is_vector(i.b), op.vector_c = is_vector(i.c);
    return op;
  }

  Op compute(int id) {
    const Inst& i = inst(id);
    Op op = result(id);
    Query q{.kind = Kind::constant, .op = i.op, .type = i.a >= 0 ? inst(i.a).type : i.type};
    switch (i.kind) {
      case InstKind::constant:
        op.bits = i.type == DType::boolean ? (i.bits ? ~uint64_t{0} : 0) : i.bits;
        op.size = byte_size(i.type) == 8 ? 8 : 4;
        break;
      case InstKind::index:
        q.kind = Kind::index;
        address(op, i.access, 1);
        break;
      case InstKind::load: {
        const DType memory = k_.operands[static_cast<size_t>(access(i.access).operand)].dtype;
        q = {.kind = Kind::load, .type = i.type, .memory = memory};
        address(op, i.access, static_cast<int64_t>(byte_size(memory)));
        storage(op, memory);
        op.steps_a = op.size;
        break;
      }
      case InstKind::unary:
      case InstKind::binary:
        q.kind = i.kind == InstKind::unary ? Kind::unary : Kind::binary;
        if (is_table_op(i.op, q.type)) op.function = math_table()[static_cast<int>(i.op)];
        break;
      case InstKind::select: q = {.kind = Kind::select, .type = i.type}; break;
      case InstKind::cast: cast(op, i, q); break;
      case InstKind::reduce: break;
    }
    op.run = find(q);
    return op;
  }

  Op read_back(const Step& s) {
    Op op = result(s.inst);
    op.a = op.b = op.c = -1;
    const DType memory = k_.operands[static_cast<size_t>(access(s.access).operand)].dtype;
    address(op, s.access, static_cast<int64_t>(byte_size(memory)));
    storage(op, memory);
    op.run = find({.kind = Kind::load, .type = inst(s.inst).type, .memory = memory});
    return op;
  }

  void cast(Op& op, const Inst& i, Query& q) {
    q.kind = Kind::cast;
    q.to = i.type;
    storage(op, i.to);
    op.saturate = true;
    op.after = find({.kind = Kind::cast_after, .memory = i.to});
    int32_t low = INT32_MIN, high = INT32_MAX;
    if (is_integer(i.to) && byte_size(i.to) < 4) {
      low = static_cast<int32_t>(integer_min(i.to));
      high = static_cast<int32_t>(integer_max(i.to));
    }
    op.bits = static_cast<uint32_t>(low) | static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32;
  }

  static void storage(Op& op, DType memory) {
    op.memory = memory;
    op.table = small_float_table(memory);
  }

  Op store(const Step& s) {
    const DType memory = k_.operands[static_cast<size_t>(access(s.access).operand)].dtype;
    Op op;
    op.a = s.inst;
    op.vector_a = is_vector(s.inst);
    address(op, s.access, static_cast<int64_t>(byte_size(memory)));
    op.vector = op.step != 0 || depends_on_vector(s.access);
    storage(op, memory);
    op.run = find({.kind = Kind::store, .type = inst(s.inst).type, .memory = memory});
    return op;
  }

  // A value that is stored as soon as it is computed is computed in place. (Later would be too late: what is read
  // between may share memory with the output.)
  void aim(std::vector<Node>& nodes, const Step& s) {
    Op op = store(s);
    const Inst& i = inst(s.inst);
    const bool computed = i.kind == InstKind::unary || i.kind == InstKind::binary || i.kind == InstKind::select;
    if (!computed || nodes.empty() || nodes.back().op.dst != s.inst || !op.vector_a || op.step != op.size) return;
    op.slot = p_.slots[static_cast<size_t>(s.inst)];
    op.run = find({.kind = Kind::aim, .memory = op.memory});
    if (op.run && byte_size(i.type) == byte_size(op.memory)) nodes.insert(nodes.end() - 1, {.op = op, .body = {}});
  }

  bool along_vector(int id) const {
    for (int l : inst(id).loops) {
      if (k_.vector_loops & loop_bit(l)) return true;
    }
    return false;
  }
  Kind join_kind(int id) const { return along_vector(id) ? Kind::fold_lanes : Kind::fold_tile; }

  Op fold(int id, Kind kind) {
    Op op = result(id);
    op.run = find({.kind = kind, .fold = inst(id).fold, .type = inst(id).type});
    return op;
  }

  Node reduce(const Step& s) {
    Node node{.kind = Node::Kind::fold, .op = fold(s.inst, Kind::fold_start), .body = block(s.body)};
    if (along_vector(s.inst)) node.finish = fold(s.inst, Kind::fold_finish).run;
    return node;
  }

  const Access& access(int id) const { return k_.accesses[static_cast<size_t>(id)]; }

  bool depends_on_vector(int id) const {
    for (size_t l = 0; l < n_.loops; ++l) {
      if ((k_.vector_loops & loop_bit(static_cast<int>(l))) && access(id).strides[l] != Dim(0)) return true;
    }
    return false;
  }

  void address(Op& op, int id, int64_t size) {
    op.operand = access(id).operand;
    op.size = size;
    op.offset = n_.offset(id) * size;
    std::vector<LoopStride>& strides = p_.strides.emplace_back();
    for (size_t l = 0; l < n_.loops; ++l) {
      const int64_t stride = n_.stride(id, static_cast<int>(l)) * size;
      if (stride == 0) continue;
      strides.push_back({static_cast<int>(l), stride});
      if (k_.vector_loops & loop_bit(static_cast<int>(l))) op.step = stride;
    }
    op.strides = strides.data();
    op.stride_count = static_cast<int>(strides.size());
  }

  const LoopKernel& k_;
  const Numbers& n_;
  Program& p_;
};

}  // namespace

Program translate(const LoopKernel& kernel, const Numbers& numbers) {
  Program p;
  p.extents = numbers.extents;
  p.parallel.assign(kernel.nest.begin(), kernel.nest.begin() + kernel.parallel);
  p.slots = plan_slots(kernel, p.slot_bytes);
  p.root = Translator(kernel, numbers, p).block(kernel.body);
  return p;
}

size_t Executor::memory_bytes(const Program& program) {
  const size_t numbers = (program.slots.size() + 3 * program.extents.size()) * 8;
  return program.slot_bytes + ((numbers + 63) & ~size_t{63});
}

Executor::Executor(const Program& program, void* const* operands, char* memory) : program_(program) {
  frame_.slots = memory;
  frame_.value = reinterpret_cast<char**>(memory + program.slot_bytes);
  for (size_t i = 0; i < program.slots.size(); ++i) frame_.value[i] = memory + program.slots[i];
  const size_t loops = program.extents.size();
  index_ = reinterpret_cast<int64_t*>(frame_.value + program.slots.size());
  first_ = index_ + loops;
  last_ = first_ + loops;
  for (size_t l = 0; l < loops; ++l) index_[l] = first_[l] = 0, last_[l] = program.extents[l];
  frame_.index = index_;
  frame_.operands = operands;
  frame_.n = 1;
  for (const Node& n : program.root) {
    if (n.kind == Node::Kind::op && !program.parallel.empty()) n.op.run(n.op, frame_);
  }
}

void Executor::run(const int64_t* at, int64_t begin, int64_t end) {
  const auto& parallel = program_.parallel;
  if (parallel.empty()) return block(program_.root);
  for (size_t i = 0; i < parallel.size(); ++i) {
    const auto loop = static_cast<size_t>(parallel[i]);
    const bool last = i + 1 == parallel.size();
    first_[loop] = last ? begin : at[i];
    last_[loop] = last ? end : at[i] + 1;
  }
  for (const Node& n : program_.root) {
    if (n.kind == Node::Kind::loop) loop(n);
    else if (n.kind == Node::Kind::vector_loop) tiles(n);
  }
}

void Executor::block(const std::vector<Node>& nodes) {
  for (const Node& n : nodes) {
    switch (n.kind) {
      case Node::Kind::op: n.op.run(n.op, frame_); break;
      case Node::Kind::loop: loop(n); break;
      case Node::Kind::vector_loop: tiles(n); break;
      case Node::Kind::fold:
        n.op.run(n.op, frame_);
        block(n.body);
        if (n.finish) n.finish(n.op, frame_);
        break;
    }
  }
}

void Executor::loop(const Node& node) {
  const auto l = static_cast<size_t>(node.loop);
  for (index_[l] = first_[l]; index_[l] < last_[l]; ++index_[l]) block(node.body);
  index_[l] = 0;
}

void Executor::tiles(const Node& node) {
  const auto l = static_cast<size_t>(node.loop);
  const int64_t last = last_[l];
  for (int64_t i = first_[l]; i < last; i += kTile) {
    index_[l] = i;
    frame_.n = std::min(kTile, last - i);
    block(node.body);
  }
  index_[l] = 0;
}

}  // namespace trine::codegen::interp
