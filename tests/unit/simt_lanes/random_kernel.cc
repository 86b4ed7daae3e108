#include "random_kernel.h"

#include <array>

namespace trine::simt {
namespace {

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  ExpressionPtr expression(int depth) {
    auto made = std::make_unique<Expression>();
    switch (depth == 0 ? pick(5) : pick(9)) {
      case 0: made->kind = Expression::number, made->value = pick(9); break;
      case 1:
      case 2: made->kind = Expression::variable, made->value = pick(kVariables); break;
      case 3: made->kind = Expression::argument, made->value = pick(2); break;
      case 4: made->kind = Expression::thread, made->value = pick(2); break;
      case 5: made->kind = Expression::input, made->a = expression(depth - 1); break;
      case 6:
        made->kind = Expression::choice;
        made->a = expression(depth - 1), made->b = expression(depth - 1), made->c = expression(depth - 1);
        break;
      default:
        made->kind = Expression::operation;
        made->symbol = "+-*^&|<=/%lr"[pick(12)];
        made->a = expression(depth - 1), made->b = expression(depth - 1);
    }
    return made;
  }

  Block block(int depth, bool in_loop, bool top) {
    Block made;
    for (uint32_t i = 0, count = 1 + pick(4); i < count; ++i) made.push_back(statement(depth, in_loop, top));
    return made;
  }

 private:
  uint32_t pick(uint32_t below) { return random_() % below; }

  std::unique_ptr<Statement> statement(int depth, bool in_loop, bool top) {
    auto made = std::make_unique<Statement>();
    made->kind = Statement::assign;
    const uint32_t choice = pick(12);
    if (depth > 0 && choice < 3) {
      made->kind = Statement::branch;
      made->value = expression(2);
      made->parts.push_back(block(depth - 1, in_loop, false));
      if (pick(2)) made->parts.push_back(block(depth - 1, in_loop, false));
    } else if (depth > 0 && choice < 5) {  // rounds: a few, of each thread its own or all the same
      made->kind = Statement::loop;
      made->value = expression(1);
      made->target = depth;  // which counter
      made->parts.push_back(block(depth - 1, true, false));
    } else if (depth > 0 && choice == 5) {
      made->kind = Statement::select;
      made->value = expression(1);
      for (int i = 0; i < 3; ++i) made->parts.push_back(block(depth - 1, in_loop, false));
    } else if (in_loop && choice == 6) {
      made->kind = pick(2) ? Statement::leave_loop : Statement::next_round;
      made->value = expression(1);
    } else if (choice == 7 && pick(4) == 0) {
      made->kind = Statement::leave;
      made->value = expression(1);
    } else if (top && choice < 9) {
      made->kind = Statement::exchange;
      made->target = pick(kVariables);
      made->value = expression(1);
    } else if (choice == 9) {
      made->kind = Statement::store;
      made->target = pick(kVariables);
      made->value = expression(2);
    } else {
      made->target = pick(kVariables);
      made->value = expression(3);
    }
    return made;
  }

  std::mt19937 random_;
};

std::string text(const Expression& e) {
  switch (e.kind) {
    case Expression::number: return std::to_string(e.value) + "u";
    case Expression::variable: return "v" + std::to_string(e.value);
    case Expression::argument: return "u" + std::to_string(e.value);
    case Expression::thread: return e.value ? "blockIdx.x" : "threadIdx.x";
    case Expression::input: return "in[" + text(*e.a) + " % " + std::to_string(kIn) + "]";
    case Expression::choice: return "((" + text(*e.a) + " & 4) ? " + text(*e.b) + " : " + text(*e.c) + ")";
    case Expression::operation: break;
  }
  const std::string a = text(*e.a), b = text(*e.b);
  switch (e.symbol) {
    case '=': return "unsigned(" + a + " == " + b + ")";
    case '<': return "unsigned((int)" + a + " < (int)" + b + ")";
    case '/': return "(" + a + " / (" + b + " | 1))";
    case '%': return "unsigned(int(" + a + " >> 1) % int((" + b + " >> 2) | 1))";
    case 'l': return "(" + a + " << (" + b + " & 31))";
    case 'r': return "(" + a + " >> (" + b + " & 31))";
    default: return "(" + a + " " + e.symbol + " " + b + ")";
  }
}

std::string text(const Block& block, int indent) {
  const std::string pad(static_cast<size_t>(indent) * 2, ' ');
  std::string out;
  for (const auto& s : block) {
    const std::string v = "v" + std::to_string(s->target), value = text(*s->value);
    switch (s->kind) {
      case Statement::assign: out += pad + v + " = " + value + ";\n"; break;
      case Statement::branch:
        out += pad + "if ((" + value + ") & 1) {\n" + text(s->parts[0], indent + 1) + pad + "}";
        if (s->parts.size() > 1) out += " else {\n" + text(s->parts[1], indent + 1) + pad + "}";
        out += "\n";
        break;
      case Statement::loop: {
        const std::string i = "i" + std::to_string(s->target);
        out += pad + "for (unsigned " + i + " = 0, n = (" + value + ") % 5; " + i + " < n; ++" + i + ") {\n" + pad +
               "  v0 += " + i + ";\n" + text(s->parts[0], indent + 1) + pad + "}\n";
        break;
      }
      case Statement::leave_loop: out += pad + "if ((" + value + ") & 2) break;\n"; break;
      case Statement::next_round: out += pad + "if ((" + value + ") & 2) continue;\n"; break;
      case Statement::leave: out += pad + "if (((" + value + ") & 7) == 3) return;\n"; break;
      case Statement::select:
        out += pad + "switch ((" + value + ") % 4) {\n" + pad + "  case 0: {\n" + text(s->parts[0], indent + 2) + pad +
               "  }\n" + pad + "  case 1: {\n" + text(s->parts[1], indent + 2) + pad + "  }\n" + pad + "  " + v +
               " += 5;\n" + pad + "  break;\n" + pad + "  default: {\n" + text(s->parts[2], indent + 2) + pad +
               "  }\n" + pad + "}\n";
        break;
      case Statement::exchange:
        out += pad + "s[threadIdx.x] = " + v + "; __syncthreads();\n" + pad + v + " ^= s[(threadIdx.x + (" + value +
               ") % 7) % blockDim.x]; __syncthreads();\n";
        break;
      case Statement::store: out += pad + "mine[" + value + " % 4] += " + v + ";\n"; break;
    }
  }
  return out;
}

struct Thread {
  std::array<uint32_t, kVariables> v{};
  uint32_t* mine = nullptr;
  uint32_t index = 0;
  bool gone = false;
};

enum class Flow { on, leave_loop, next_round, leave };

struct Machine {
  const std::vector<uint32_t>& in;
  uint32_t u[2], block;

  uint32_t value(const Expression& e, const Thread& t) const {
    switch (e.kind) {
      case Expression::number: return e.value;
      case Expression::variable: return t.v[e.value];
      case Expression::argument: return u[e.value];
      case Expression::thread: return e.value ? block : t.index;
      case Expression::input: return in[value(*e.a, t) % kIn];
      case Expression::choice: return value(*e.a, t) & 4 ? value(*e.b, t) : value(*e.c, t);
      case Expression::operation: break;
    }
    const uint32_t a = value(*e.a, t), b = value(*e.b, t);
    switch (e.symbol) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '^': return a ^ b;
      case '&': return a & b;
      case '|': return a | b;
      case '=': return a == b;
      case '<': return static_cast<int32_t>(a) < static_cast<int32_t>(b);
      case '/': return a / (b | 1);
      case '%': return static_cast<uint32_t>(static_cast<int32_t>(a >> 1) % static_cast<int32_t>((b >> 2) | 1));
      case 'l': return a << (b & 31);
      default: return a >> (b & 31);
    }
  }

  Flow run(const Statement& s, Thread& t) const {
    const uint32_t x = value(*s.value, t);
    switch (s.kind) {
      case Statement::assign: t.v[s.target] = x; return Flow::on;
      case Statement::branch: return x & 1 ? run(s.parts[0], t) : s.parts.size() > 1 ? run(s.parts[1], t) : Flow::on;
      case Statement::loop:
        for (uint32_t i = 0, n = x % 5; i < n; ++i) {
          t.v[0] += i;
          const Flow flow = run(s.parts[0], t);
          if (flow == Flow::leave) return flow;
          if (flow == Flow::leave_loop) break;
        }
        return Flow::on;
      case Statement::leave_loop: return x & 2 ? Flow::leave_loop : Flow::on;
      case Statement::next_round: return x & 2 ? Flow::next_round : Flow::on;
      case Statement::leave: return (x & 7) == 3 ? Flow::leave : Flow::on;
      case Statement::select: return run_select(s, x % 4, t);
      case Statement::store: t.mine[x % 4] += t.v[s.target]; return Flow::on;
      case Statement::exchange: break;
    }
    return Flow::on;
  }

  // A `break` of the text inside leaves the switch, `continue` the round of the loop around.
  Flow run_select(const Statement& s, uint32_t which, Thread& t) const {
    if (which >= 2) {
      const Flow flow = run(s.parts[2], t);
      return flow == Flow::leave_loop ? Flow::on : flow;
    }
    for (uint32_t part = which; part < 2; ++part) {
      const Flow flow = run(s.parts[part], t);
      if (flow == Flow::leave_loop) return Flow::on;
      if (flow != Flow::on) return flow;
    }
    t.v[s.target] += 5;
    return Flow::on;
  }

  Flow run(const Block& block, Thread& t) const {
    for (const auto& s : block)
      if (const Flow flow = run(*s, t); flow != Flow::on) return flow;
    return Flow::on;
  }
};

}  // namespace

RandomKernel::RandomKernel(uint32_t seed) {
  Maker maker(seed);
  for (int i = 0; i < 3; ++i)
    for (auto& statement : maker.block(kDepth, false, true)) top_.push_back(std::move(statement));
}

std::string RandomKernel::text() const {
  return "__global__ void k(const unsigned* in, unsigned* out, unsigned u0, unsigned u1) {\n"
         "  __shared__ unsigned s[1024];\n"
         "  s[threadIdx.x] = 0;\n"
         "  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  unsigned v0 = t, v1 = in[t % 97], v2 = u0, v3 = 1;\n"
         "  unsigned* mine = out + 8 * t;\n"
         "  for (int i = 0; i < 8; ++i) mine[i] = i;\n"
         "  __syncthreads();\n" +
         simt::text(top_, 1) + "  mine[4] = v0; mine[5] = v1; mine[6] = v2; mine[7] = v3;\n}\n";
}

void RandomKernel::run(const std::vector<uint32_t>& in, uint32_t* out, uint32_t u0, uint32_t u1, uint32_t threads,
                       uint32_t block) const {
  const Machine machine{in, {u0, u1}, block};
  std::vector<Thread> all(threads);
  std::vector<uint32_t> shared(threads, 0);
  for (uint32_t i = 0; i < threads; ++i) {
    const uint32_t t = block * threads + i;
    all[i] = {{t, in[t % kIn], u0, 1}, out + 8 * i, i, false};
    for (uint32_t j = 0; j < 8; ++j) all[i].mine[j] = j;
  }
  for (const auto& s : top_) {
    if (s->kind == Statement::exchange) {
      for (const Thread& t : all)
        if (!t.gone) shared[t.index] = t.v[s->target];
      for (Thread& t : all)
        if (!t.gone) t.v[s->target] ^= shared[(t.index + machine.value(*s->value, t) % 7) % threads];
      continue;
    }
    for (Thread& t : all)
      if (!t.gone) t.gone = machine.run(*s, t) == Flow::leave;
  }
  for (const Thread& t : all)
    if (!t.gone)
      for (uint32_t j = 0; j < kVariables; ++j) t.mine[4 + j] = t.v[j];
}

}  // namespace trine::simt
