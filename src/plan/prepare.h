// Prepare: binds a plan to concrete sizes. A Segment is a run of calls whose sizes are all known: it ends where a host
// step makes a value whose size only its data tell (NonZero, NonMaxSuppression, Loop). The sizes that then come out
// name the next segment; each is prepared once and kept.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "plan/kernel_call.h"
#include "plan/plan.h"

namespace trine {

// What a device runs for a call of kind kernel or loop.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;
  virtual std::string_view kernel() const = 0;                 // the row's name, "loop"
  virtual bool fits(const dnn::Problem& problem) const = 0;    // the row computes this one too
  virtual std::string_view provider() const { return "own"; }  // or the library whose kernels it calls
  virtual bool tf32() const { return false; }                  // factors are rounded to 11 bits first
};

// One thing to run. Values are named by their roots: the value whose bytes they are.
struct Call {
  enum class Kind : uint8_t { kernel, loop, host };
  Kind kind = Kind::host;
  int node = 0;
  // kernel
  const dnn::KernelRow* row = nullptr;
  KernelCall what;
  Tensor packed;  // undefined when sizes only are asked for
  size_t packed_bytes = 0;
  size_t workspace_bytes = 0;
  // loop
  std::vector<codegen::BoundKernel> loops;
  // Of a plan for a device: instead of row, packed and loops.
  std::shared_ptr<DeviceWork> device;
  std::string note;  // host: why nothing else runs it with these sizes
};

// A device other than this CPU, that plans are prepared for.
class Target {
 public:
  virtual ~Target() = default;
  // What chosen rows are good for: "sm_90 x132", "simt x2".
  virtual const std::string& fingerprint() const = 0;
  virtual bool has_row(std::string_view name) const = 0;
  // Gives call.device what computes call.what. `chosen`: the row named at build, empty: none. What comes back says why
  // there is nothing; empty: there is.
  virtual std::string choose(const Plan& plan, std::string_view chosen, Call& call) const = 0;
  // Likewise for loops.
  virtual std::string render(std::span<const codegen::LoopKernel> loops, const Bindings& bindings,
                             Call& call) const = 0;
  // Times the best rows for a problem, those whose times plan.limits.timings does not hold yet, until its budget is
  // spent. `choose` goes by the times that are there.
  virtual void measure(const Plan& plan, const dnn::Problem& problem) const = 0;
  // Called once the problem of a chosen kernel is final: fills workspace_bytes.
  virtual void settle(Call& call) const = 0;
};

// A value that lives inside another one: rows of `row_bytes`, `stride_bytes` apart (the same: contiguous).
struct Lodging {
  ValueId host = kNoValue;
  int64_t offset_bytes = 0;
  int64_t row_bytes = 0, stride_bytes = 0;

  bool is_dense() const { return row_bytes == stride_bytes; }
};

// Calls [first, last) that run for one part of the batch after the other; see plan/strips.h.
struct Strip {
  size_t first = 0, last = 0;
  int64_t parts = 1;
  bool dealt = false;                  // each part to one thread; else all threads share every part
  std::vector<dnn::Problem> problems;  // of one part, by call
  // Scratch memory for one part in work, and memory for the values that only this strip sees.
  size_t workspace_bytes = 0;
  int64_t local_bytes = 0;
};

// Where the parts of a root lie during a strip.
struct PartPlace {
  int64_t extent = 0;  // bytes of all parts together; 0: not divided
  int local_to = -1;   // the only strip that sees the root: parts follow each other in the same memory
};

// Whether batches may go through in parts.
enum class Batch : uint8_t { whole, in_parts };

struct Segment {
  Graph typed;              // the plan's graph with concrete types for everything known so far
  int first = 0, last = 0;  // nodes [first, last)
  int depth = 0;            // segments before this one
  bool ends_graph = true;   // else the last call is a host step whose sizes name the next segment
  std::vector<Call> calls;
  std::vector<Strip> strips;            // in order; calls of none run on the whole batch
  std::vector<PartPlace> places;        // of every root; empty without strips
  std::vector<ValueId> root;            // of every value
  std::map<ValueId, Tensor> constants;  // values that turned out constant for these sizes
  std::map<ValueId, Lodging> lodgings;  // by root; hosts lodge nowhere themselves
  std::set<ValueId> planar;             // values [N,spatial...,C] whose bytes lie as [N,C,spatial...] in their root
  std::map<ValueId, int64_t> offsets;   // arena offset of every root made here, except graph outputs and lodgers
  std::vector<ValueId> direct_outputs;  // roots made here that are graph outputs: they live in the caller's tensors
  int64_t arena_bytes = 0;
  size_t workspace_bytes = 0;
  std::map<std::string, int64_t> symbols;
  std::map<std::string, std::unique_ptr<Segment>> next;
  std::shared_ptr<void> attached;  // what the executor of a device keeps with it

  PartPlace place(ValueId root) const { return places.empty() ? PartPlace{} : places[static_cast<size_t>(root)]; }

  // The value whose place in memory this root shares.
  ValueId home(ValueId root) const {
    const auto it = lodgings.find(root);
    return it == lodgings.end() ? root : it->second.host;
  }
};

// Packed weights made on the way, by (node, call, packing).
using PackedCache = std::map<std::tuple<int, int, dnn::Packing>, Tensor>;

// Prepares from node `first` on; `typed` must have concrete types for the graph inputs (and for what earlier segments
// made). `threads` are those that will run it: scratch memory is made for exactly so many. With `packed` null no
// weights are packed: the segment tells sizes and kernels, and cannot run. Throws Error naming the node when sizes do
// not fit together. Batch::whole keeps every value whole after the run of its call. With a `target` no weights are
// packed and batches stay whole.
std::unique_ptr<Segment> prepare(const Plan& plan, Graph typed, const Segment* before, int threads, PackedCache* packed,
                                 Batch batch = Batch::in_parts, const Target* target = nullptr);

// A graph whose inputs have these types. Throws Error{invalid_argument} when they contradict the graph's own.
Graph with_input_types(const Plan& plan, const std::vector<Type>& types);

}  // namespace trine
