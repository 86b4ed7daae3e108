#include "plan/strips.h"

#include <algorithm>
#include <functional>

#include "plan/divide.h"

namespace trine {
namespace {

constexpr double kNearBytes = 1 << 20;  // what a call touches stays near up to this size: nothing is to be won
constexpr double kFarBytesPerSecond = 20e9, kFlopsPerSecond = 100e9;
constexpr int64_t kPartsPerThread = 4;  // enough for parts to be dealt although they do not come out even

// One call's use of parts: bytes that would come from far away were the batch whole, as far as arithmetic does not hide
// them, less weights that are read again.
struct Candidate {
  std::optional<DividedCall> divided;
  double gain = 0;
};

Candidate candidate(const Segment& segment, const Call& call, int64_t parts) {
  Candidate out{divide(segment, call, parts)};
  if (!out.divided) return out;
  double bytes = 0;
  for (const CutOperand& o : out.divided->cut) bytes += static_cast<double>(o.bytes);
  const double flops = call.kind == Call::Kind::kernel ? dnn::flops(call.what.problem) : 0;
  const double far = bytes / kFarBytesPerSecond, shown = far / (far + flops / kFlopsPerSecond);
  out.gain = std::max(bytes - kNearBytes, 0.0) * shown - static_cast<double>(parts - 1) * out.divided->weight_bytes;
  return out;
}

// The batch of the first call that has more than one image.
int64_t batch_of(const Segment& segment) {
  for (const Call& call : segment.calls)
    if (batch_of(call) > 1) return batch_of(call);
  return 1;
}

// Parts as large as stay near: the smallest division of the batch for which the largest call does, or single images.
// A multiple of the threads comes first.
int64_t enough_parts(int64_t batch, double largest_bytes, int threads) {
  int64_t least = 0;
  for (int64_t parts = 2; parts <= batch; ++parts) {
    if (batch % parts != 0 || (parts < batch && largest_bytes / static_cast<double>(parts) > kNearBytes)) continue;
    if (parts % threads == 0) return parts;
    if (least == 0) least = parts;
  }
  return least;
}

class StripFinder {
 public:
  StripFinder(Segment& segment, int threads) : segment_(segment), threads_(threads) {}

  void run() {
    const int64_t batch = batch_of(segment_);
    if (batch < 2) return;
    for (const Call& call : segment_.calls) candidates_.push_back(candidate(segment_, call, batch));
    for (const auto& [first, last] : worthwhile_runs()) add_strip(first, last, batch);
    if (!segment_.strips.empty()) fill_places();
  }

 private:
  using Run = std::pair<size_t, size_t>;

  // Runs of calls whose gains add up to the most: one ends where going on loses more than all that follows wins.
  std::vector<Run> worthwhile_runs() const {
    std::vector<Run> runs;
    for (size_t at = 0; at < candidates_.size();) {
      if (candidates_[at].gain <= 0) {
        ++at;
        continue;
      }
      double sum = 0, best = 0;
      size_t end = at;
      for (size_t c = at; c < candidates_.size() && candidates_[c].divided; ++c) {
        sum += candidates_[c].gain;
        if (sum < 0) break;
        if (sum > best) best = sum, end = c + 1;
      }
      if (end > at + 1) runs.emplace_back(at, end);
      at = end;
    }
    return runs;
  }

  void add_strip(size_t first, size_t last, int64_t batch) {
    double largest = 0;
    for (size_t c = first; c < last; ++c)
      for (const CutOperand& o : candidates_[c].divided->cut) largest = std::max(largest, static_cast<double>(o.bytes));
    Strip strip{first, last, enough_parts(batch, largest, threads_)};
    strip.dealt = threads_ > 1 && (strip.parts % threads_ == 0 || strip.parts >= kPartsPerThread * threads_);
    for (size_t c = first; c < last; ++c) {
      std::optional<DividedCall> divided = divide(segment_, segment_.calls[c], strip.parts);
      if (!divided) return;
      if (segment_.calls[c].kind == Call::Kind::kernel) {
        const size_t bytes = dnn::workspace_bytes(*segment_.calls[c].row, divided->problem, strip.dealt ? 1 : threads_);
        strip.workspace_bytes = std::max(strip.workspace_bytes, (bytes + 63) / 64 * 64);
      }
      strip.problems.push_back(std::move(divided->problem));
    }
    segment_.strips.push_back(std::move(strip));
  }

  // Calls body(root) for what call `c` reads and writes but constants.
  void for_operands(size_t c, const std::function<void(ValueId)>& body) const {
    const Node& node = segment_.typed.nodes[static_cast<size_t>(segment_.calls[c].node)];
    for (const auto* ids : {&node.inputs, &node.outputs})
      for (ValueId id : *ids)
        if (id != kNoValue) body(segment_.root[static_cast<size_t>(id)]);
  }

  void fill_places() {
    segment_.places.resize(segment_.typed.values.size());
    for (const Strip& strip : segment_.strips)
      for (size_t c = strip.first; c < strip.last; ++c)
        for (const CutOperand& o : candidates_[c].divided->cut)
          for (ValueId id : {o.root, segment_.home(o.root)}) segment_.places[static_cast<size_t>(id)].extent = o.bytes;
    const std::vector<int> users = users_of_homes();
    for (size_t i = 0; i < users.size(); ++i) {
      const int user = users[static_cast<size_t>(segment_.home(static_cast<ValueId>(i)))];
      if (user >= 0 && segment_.places[i].extent > 0) segment_.places[i].local_to = user;
    }
  }

  // The only strip that touches a value or what lives in it, by home; kMany where there is none such.
  std::vector<int> users_of_homes() const {
    std::vector<int> users(segment_.typed.values.size(), kNone);
    for (size_t c = 0; c < segment_.calls.size(); ++c) {
      const int strip = strip_of(c);
      for_operands(c, [&](ValueId root) {
        int& user = users[static_cast<size_t>(segment_.home(root))];
        user = strip == kNone || (user != kNone && user != strip) ? kMany : strip;
      });
    }
    note_outside(users);
    return users;
  }

  static constexpr int kNone = -1, kMany = -2;
  int strip_of(size_t c) const {
    for (size_t s = 0; s < segment_.strips.size(); ++s)
      if (segment_.strips[s].first <= c && c < segment_.strips[s].last) return static_cast<int>(s);
    return kNone;
  }

  // Graph inputs and outputs and what later segments read are no strip's own.
  void note_outside(std::vector<int>& users) const {
    const auto outside = [&](ValueId id) {
      if (id != kNoValue) users[static_cast<size_t>(segment_.home(segment_.root[static_cast<size_t>(id)]))] = kMany;
    };
    for (ValueId id : segment_.typed.inputs) outside(id);
    for (ValueId id : segment_.typed.outputs) outside(id);
    for (size_t n = static_cast<size_t>(segment_.last); n < segment_.typed.nodes.size(); ++n)
      for (ValueId id : segment_.typed.nodes[n].inputs) outside(id);
  }

  Segment& segment_;
  int threads_;
  std::vector<Candidate> candidates_;
};

}  // namespace

void find_strips(Segment& segment, int threads) { StripFinder(segment, threads).run(); }

}  // namespace trine
