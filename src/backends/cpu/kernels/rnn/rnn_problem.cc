#include "backends/cpu/kernels/rnn/rnn_problem.h"

#include "trine/base/error.h"

namespace trine::cpu {

using namespace dnn;

const RnnIsa& rnn_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kRnnAvx512;
  if (level == CpuLevel::avx2) return kRnnAvx2;
#endif
  return kRnnBaseline;
}

void check_lengths(const RnnProblem& p, const Args& args) {
  const std::string cell = p.kind == RnnKind::lstm ? "lstm" : p.kind == RnnKind::gru ? "gru" : "rnn";
  for (int64_t b = 0; p.sequence_lens && b < p.batch; ++b)
    if (const int64_t n = static_cast<const int32_t*>(args.in[3])[b]; n < 0 || n > p.steps)
      throw Error(ErrorCode::invalid_argument,
                  cell + ": sequence length " + std::to_string(n) + "; want 0 to " + std::to_string(p.steps));
}

const char* invalid(const RnnProblem& p) {
  const bool lstm = p.kind == RnnKind::lstm;
  if (p.layers < 1) return "no layers";
  if (!lstm && p.projection) return "a projection of a cell other than lstm";
  if (!lstm && p.peephole) return "peepholes of a cell other than lstm";
  if (p.skip_input && p.input != p.hidden) return "a skipped input of another width than the hidden state";
  return p.dropout < 0 || p.dropout >= 1 ? "a dropout outside [0, 1)" : nullptr;
}

}  // namespace trine::cpu
