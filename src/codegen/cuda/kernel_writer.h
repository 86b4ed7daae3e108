// Writes a kernel's function: indices of threads, then the nest.
#pragma once

#include <set>

#include "codegen/cuda/kernel_text.h"
#include "codegen/cuda/text_lines.h"

namespace trine::codegen {

class KernelWriter {
 public:
  KernelWriter(const BoundLoops& loops, const ThreadSchedule& schedule);
  KernelText run();

 private:
  // The nest (kernel_writer.cc).
  void points();
  void decode(const std::string& linear, const std::string& tag, const std::vector<int>& fastest_first);
  void path();
  void row_block();
  void team_loop(const Chain& chain);
  void steps(const Block& block, bool leads_on);
  void step(const Step& step);
  void serial_loop(const Step& step);
  void fold_start(const Step& step);
  void fold_join(const Step& step);
  void row_fold(const Step& step);
  void team_join(const Inst& inst, int id, bool array);
  void choose_kept();

  // Squares (square_writer.cc).
  void squares();
  void open_square(int inner, int outer);
  std::string square(int id) const;

  // Values (kernel_values.cc).
  void need(int id);
  void compute(int id);
  void load(int id);
  void store(const Step& step, const std::string& condition);
  void assign(int id, const std::string& expression, bool touches_memory = false);
  std::string expression(int id);
  std::string address(int access, bool element) const;
  std::string pointer(int access) const;
  bool is_packed(int id) const { return (loops_.inst(id).deps & packed_) != 0; }
  int64_t packed_stride(int access) const;
  bool moves_with_pack(int access) const;
  std::string base(int id) const;  // "v3", "v3[k]"
  std::string ref(int id) const;   // of the running element: "v3[u]"
  void note_pack(int access);

  // The whole (kernel_text.cc).
  std::string parameters(bool with_types) const;
  std::string functions() const;

  const BoundLoops& loops_;
  const LoopKernel& k_;
  const ThreadSchedule& s_;
  const LoopSet packed_;
  mutable KernelSizes sizes_;
  TextLines out_;
  std::vector<std::set<int>> known_;  // values by scope
  size_t row_scope_ = 0;
  std::set<int> kept_;    // in registers of all passes over a row
  std::set<int> packs_;   // operands that are read or written in packs
  bool clamped_ = false;  // threads behind the last point take part, and store nothing
  bool tail_ = false;     // a pack may end early, after `m` elements
};

}  // namespace trine::codegen
