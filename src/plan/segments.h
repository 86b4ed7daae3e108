// The segments of a plan, each prepared once for some sizes and kept.
#pragma once

#include "plan/prepare.h"

namespace trine {

class Segments {
 public:
  // `target` may be null: this CPU. It must outlive the segments.
  Segments(std::shared_ptr<const Plan> plan, int threads, const Target* target = nullptr)
      : plan_(std::move(plan)), threads_(threads), target_(target) {}

  Segment& first(const std::vector<Type>& types, Batch batch);
  // The one that the sizes of what `segment` made last, in `made` by value, lead to.
  Segment& next(Segment& segment, const std::vector<Datum>& made, Batch batch);
  void clear() { first_.clear(); }
  const PackedCache& packed() const { return packed_; }

 private:
  std::shared_ptr<const Plan> plan_;
  int threads_;
  const Target* target_;
  PackedCache packed_;
  std::vector<std::pair<std::string, std::unique_ptr<Segment>>> first_;  // by input types, latest last
};

}  // namespace trine
