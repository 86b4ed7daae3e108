#include "plan/place.h"

#include <algorithm>

#include "plan/memory.h"

namespace trine {
namespace {

class Placer {
 public:
  explicit Placer(Segment& segment) : segment_(segment) {}

  void run(int threads) {
    note_makers();
    note_workspace(threads);
    for (ValueId id : typed().outputs)
      if (alive_.erase(home(id))) segment_.direct_outputs.push_back(home(id));
    note_reads();
    for (size_t s = 0; s < segment_.strips.size(); ++s) place_locals(static_cast<int>(s), threads);
    for (const Strip& strip : segment_.strips) keep_through(strip);
    std::vector<ArenaItem> items = strips_;
    for (auto& [id, item] : alive_) items.push_back(item);
    segment_.arena_bytes = assign_offsets(items);
    size_t i = strips_.size();
    for (auto& [id, item] : alive_) segment_.offsets[id] = items[i++].offset;
    for (auto& [id, offset] : locals_)
      segment_.offsets[id] = items[static_cast<size_t>(segment_.place(id).local_to)].offset + offset;
  }

 private:
  const Graph& typed() const { return segment_.typed; }
  ValueId home(ValueId id) const { return segment_.home(segment_.root[static_cast<size_t>(id)]); }
  const Node& node_of(const Call& call) const { return typed().nodes[static_cast<size_t>(call.node)]; }

  int64_t bytes_of(ValueId id) const {
    const Type& type = typed().type(id);
    return element_count(type.shape.static_dims()) * static_cast<int64_t>(byte_size(type.dtype));
  }

  void note_makers() {
    std::vector<bool> made_here(typed().values.size());
    for (int n = segment_.first; n < segment_.last; ++n)
      for (ValueId id : typed().nodes[static_cast<size_t>(n)].outputs)
        if (id != kNoValue) made_here[static_cast<size_t>(id)] = true;
    for (size_t c = 0; c < segment_.calls.size(); ++c) {
      const Call& call = segment_.calls[c];
      if (call.kind == Call::Kind::host) continue;
      const int at = static_cast<int>(c);
      for (ValueId id : node_of(call).outputs)
        if (id != kNoValue && made_here[static_cast<size_t>(home(id))])
          alive_.emplace(home(id), ArenaItem{bytes_of(home(id)), at, at, 0}).first->second.last = at;
    }
  }

  void note_workspace(int threads) {
    for (const Call& call : segment_.calls)
      segment_.workspace_bytes = std::max(segment_.workspace_bytes, call.workspace_bytes);
    for (const Strip& strip : segment_.strips) {
      const auto users = static_cast<size_t>(strip.dealt ? threads : 1);
      segment_.workspace_bytes = std::max(segment_.workspace_bytes, users * strip.workspace_bytes);
    }
  }

  void note_reads() {
    const auto read = [&](ValueId id, int at) {
      if (id == kNoValue) return;
      if (auto it = alive_.find(home(id)); it != alive_.end()) it->second.last = std::max(it->second.last, at);
    };
    const int calls = static_cast<int>(segment_.calls.size());
    for (int c = 0; c < calls; ++c)
      for (ValueId id : node_of(segment_.calls[static_cast<size_t>(c)]).inputs) read(id, c);
    for (size_t n = static_cast<size_t>(segment_.last); n < typed().nodes.size(); ++n)
      for (ValueId id : typed().nodes[n].inputs) read(id, calls);
    for (ValueId id : typed().outputs) read(id, calls);
  }

  // What only a strip sees lies together, once for each thread that works on a part.
  void place_locals(int strip, int threads) {
    Strip& s = segment_.strips[static_cast<size_t>(strip)];
    std::vector<ValueId> ids;
    std::vector<ArenaItem> items;
    for (const auto& [id, item] : alive_) {
      if (segment_.place(id).local_to != strip) continue;
      ids.push_back(id);
      items.push_back(item);
      items.back().bytes = segment_.place(id).extent / s.parts;
    }
    s.local_bytes = assign_offsets(items);
    strips_.push_back(
        {s.local_bytes * (s.dealt ? threads : 1), static_cast<int>(s.first), static_cast<int>(s.last) - 1, 0});
    for (size_t i = 0; i < ids.size(); ++i) {
      locals_[ids[i]] = items[i].offset;
      alive_.erase(ids[i]);
    }
  }

  // The last part's first call still reads, and the first part's last call already writes, what the strip shares with
  // the rest: it lives from the strip's begin to its end.
  void keep_through(const Strip& strip) {
    const int first = static_cast<int>(strip.first), last = static_cast<int>(strip.last) - 1;
    for (auto& [id, item] : alive_) {
      if (item.last < first || item.first > last) continue;
      item.first = std::min(item.first, first);
      item.last = std::max(item.last, last);
    }
  }

  Segment& segment_;
  std::map<ValueId, ArenaItem> alive_;
  std::vector<ArenaItem> strips_;      // memory of each strip's own values
  std::map<ValueId, int64_t> locals_;  // their offsets in it
};

}  // namespace

void place(Segment& segment, int threads) { Placer(segment).run(threads); }

}  // namespace trine
