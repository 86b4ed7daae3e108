// Executor: runs a plan on inputs. It keeps what preparing found out for each set of input sizes, an arena per segment
// and the tensors that outputs live in; after the first run for some sizes a run of kernels and loops allocates nothing
// but the outputs that the caller still holds.
//
// Not thread safe: one executor per thread. Plans may be shared.
#pragma once

#include "plan/runner.h"
#include "plan/segments.h"
#include "trine/base/thread_pool.h"

namespace trine {

class Executor final : public Runner {
 public:
  // `pool` null: one thread. Both must outlive the executor.
  Executor(std::shared_ptr<const Plan> plan, ThreadPool* pool);
  ~Executor() override;

  std::vector<Datum> run(const std::vector<Datum>& inputs) override;
  void observe(Observer observer) override;

  // The segments that a run on inputs of these types begins with; prepared if need be.
  const Segment& prepare_for(const std::vector<Type>& types);
  const PackedCache& packed() const { return segments_.packed(); }
  size_t arena_bytes() const override;
  const Plan& plan() const { return *plan_; }
  Executor& body(int node, int k);  // the executor of a control-flow node's body

 private:
  // What one call works on: a part of the batch or all of it, with the scratch memory and the threads for that.
  struct Share {
    int64_t part = 0, parts = 1;
    int64_t local_offset = 0;  // of the memory for what only a strip sees
    char* workspace = nullptr;
    ThreadPool* pool = nullptr;
  };
  int threads() const;
  Share whole() { return {0, 1, 0, workspace_.mutable_as<char>(), pool_}; }
  Batch batch() const { return observer_.with_data ? Batch::whole : Batch::in_parts; }
  void execute(const Segment& segment);
  void set_slots(const Segment& segment);
  void run_call(const Segment& segment, const Call& call);
  void run_strip(const Segment& segment, const Strip& strip);
  void run_part(const Segment& segment, const Strip& strip, const Share& share, double* seconds);
  void run_kernel(const Segment& segment, const Call& call, const dnn::Problem& problem, const Share& share);
  void run_loops(const Segment& segment, const Call& call, const Share& share);
  void* address(const Segment& segment, ValueId id, const Share& share) const;
  void run_host(const Segment& segment, const Call& call);
  void run_observed(const Segment& segment, const Call& call);
  Datum datum_of(const Segment& segment, ValueId id) const;
  std::vector<Datum> data_of(const Segment& segment, const std::vector<ValueId>& ids) const;
  std::vector<Datum> collect_outputs(const Segment& segment);
  Tensor output_tensor(ValueId root, const Type& type);

  std::shared_ptr<const Plan> plan_;
  ThreadPool* pool_;
  Segments segments_;
  Observer observer_;
  std::vector<Tensor> arenas_;  // by segment depth
  Tensor workspace_;
  std::vector<void*> slots_;           // address of every root
  std::vector<Datum> boxed_;           // graph inputs and what host steps made
  std::map<ValueId, Tensor> outputs_;  // tensors that direct outputs live in
  std::map<std::pair<int, int>, std::unique_ptr<Executor>> bodies_;
};

}  // namespace trine
