// Slot planning: a linear scan over the nest.
#include <algorithm>

#include "codegen/program.h"

namespace trine::codegen::interp {
namespace {

class SlotPlanner {
 public:
  SlotPlanner(const LoopKernel& k, size_t& bytes)
      : k_(k), bytes_(bytes), last_(k.insts.size(), -1), depth_(k.insts.size(), 0), slots_(k.insts.size(), -1) {}

  std::vector<int64_t> run() {
    measure(k_.body, 0);
    position_ = 0;
    place(k_.body);
    return slots_;
  }

 private:
  struct Free {
    int64_t offset, bytes;
  };

  // Finds the last position at which each value is read. One that is read in a deeper loop than it was made in is read
  // until that loop's end.
  void measure(const Block& block, int depth) {
    for (const Step& s : block) {
      const int here = position_++;
      if (s.kind == Step::Kind::compute) {
        const Inst& i = k_.insts[static_cast<size_t>(s.inst)];
        use(s.inst, here);
        for (int v : {i.a, i.b, i.c}) {
          if (s.access < 0) use(v, here);
        }
        depth_[static_cast<size_t>(s.inst)] = depth;
      } else if (s.kind == Step::Kind::store) {
        use(s.inst, here);
      } else if (s.kind == Step::Kind::fold) {
        use(k_.insts[static_cast<size_t>(s.inst)].a, here);
        use(s.inst, here);
      } else {
        if (s.kind == Step::Kind::reduce) depth_[static_cast<size_t>(s.inst)] = depth;
        measure(s.body, depth + 1);
        const int end = position_++;
        for (size_t v = 0; v < last_.size(); ++v) {
          if (last_[v] > here && depth_[v] <= depth) last_[v] = end;
        }
        if (s.kind == Step::Kind::reduce) use(s.inst, end);
      }
    }
  }

  void use(int v, int position) {
    if (v >= 0) last_[static_cast<size_t>(v)] = position;
  }

  void place(const Block& block) {
    for (const Step& s : block) {
      const int here = position_++;
      if (s.kind == Step::Kind::compute || s.kind == Step::Kind::reduce) {
        release(here);
        take(s.inst);
      }
      if (s.kind == Step::Kind::loop || s.kind == Step::Kind::reduce) {
        place(s.body);
        ++position_;
      }
    }
  }

  void release(int before) {
    std::erase_if(live_, [&](int v) {
      if (last_[static_cast<size_t>(v)] >= before) return false;
      free_.push_back({slots_[static_cast<size_t>(v)], size(v)});
      return true;
    });
  }

  int64_t size(int v) const {
    const Inst& i = k_.insts[static_cast<size_t>(v)];
    const int64_t element = i.type == DType::boolean ? 4 : static_cast<int64_t>(byte_size(i.type));
    if (k_.is_vector(i)) return kTile * element;
    return (i.kind == InstKind::reduce ? kReduceLanes : kGroup) * element;
  }

  void take(int v) {
    if (slots_[static_cast<size_t>(v)] >= 0) return;  // computed in a second block too
    const int64_t bytes = size(v);
    live_.push_back(v);
    for (auto f = free_.begin(); f != free_.end(); ++f) {
      if (f->bytes != bytes) continue;
      slots_[static_cast<size_t>(v)] = f->offset;
      free_.erase(f);
      return;
    }
    slots_[static_cast<size_t>(v)] = static_cast<int64_t>(bytes_);
    bytes_ += static_cast<size_t>(bytes);
  }

  const LoopKernel& k_;
  size_t& bytes_;
  std::vector<int> last_, depth_;
  std::vector<int64_t> slots_;
  std::vector<int> live_;
  std::vector<Free> free_;
  int position_ = 0;
};

}  // namespace

std::vector<int64_t> plan_slots(const LoopKernel& kernel, size_t& bytes) { return SlotPlanner(kernel, bytes).run(); }

}  // namespace trine::codegen::interp
