// NonMaxSuppression: per batch and class, boxes by falling score (ties: lower index); a box is dropped when it overlaps
// one already kept by more than iou_threshold (strictly). Scores must exceed score_threshold where that is given.
#include <algorithm>
#include <cmath>

#include "ops/shape_rules.h"

namespace trine {
namespace {

struct Box {
  double low[2], high[2];

  double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// Corners in any order, or centre and size.
Box box_at(const double* v, bool center) {
  Box b;
  for (int k = 0; k < 2; ++k) {
    const double a = center ? v[k] - v[k + 2] / 2 : v[k], z = center ? v[k] + v[k + 2] / 2 : v[k + 2];
    b.low[k] = std::min(a, z);
    b.high[k] = std::max(a, z);
  }
  return b;
}

bool overlaps_more(const Box& a, const Box& b, double threshold) {
  double shared = 1;
  for (int k = 0; k < 2; ++k) {
    const double length = std::min(a.high[k], b.high[k]) - std::max(a.low[k], b.low[k]);
    if (!(length > 0)) return false;
    shared *= length;
  }
  const double all = a.area() + b.area() - shared;
  return a.area() > 0 && b.area() > 0 && all > 0 && shared / all > threshold;
}

void infer_nms(InferContext& c) {
  c.need_rank(0, 3);
  c.need_rank(1, 3);
  c.set(0, DType::i64, {c.fresh("selected"), 3});
}

double threshold(const EvalContext& c, int i, double otherwise) {
  if (!c.has(i) || c.tensor(i).elements() == 0) return otherwise;
  return c.tensor(i).f64_values()[0];
}

void nms_reference(EvalContext& c) {
  const Tensor &boxes = c.tensor(0), &scores = c.tensor(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 || boxes.dim(0) != scores.dim(0) ||
      boxes.dim(1) != scores.dim(2))
    c.fail("boxes are " + boxes.type_text() + ", scores " + scores.type_text() + "; want [B,N,4] and [B,C,N]");
  const bool limited = c.has(2) && c.tensor(2).elements() > 0;
  const int64_t most = limited ? std::max<int64_t>(c.tensor(2).i64_values()[0], 0) : 0;
  const double iou = threshold(c, 3, 0);
  const bool by_score = c.has(4) && c.tensor(4).elements() > 0;
  const double least = threshold(c, 4, 0);
  const bool center = c.attrs().integer("center_point_box") != 0;
  const int64_t batches = boxes.dim(0), classes = scores.dim(1), count = boxes.dim(1);
  const auto coordinates = boxes.f64_values(), score = scores.f64_values();
  std::vector<int64_t> selected;
  std::vector<Box> box(static_cast<size_t>(count));
  if (most == 0 || boxes.elements() == 0 || scores.elements() == 0)
    return c.set(0, Tensor::from_i64(DType::i64, {0, 3}, {}));
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t i = 0; i < count; ++i)
      box[static_cast<size_t>(i)] = box_at(&coordinates[static_cast<size_t>((b * count + i) * 4)], center);
    for (int64_t cls = 0; cls < classes; ++cls) {
      const double* s = &score[static_cast<size_t>((b * classes + cls) * count)];
      std::vector<int64_t> order, kept;
      for (int64_t i = 0; i < count; ++i)
        if (!std::isnan(s[i]) && (!by_score || s[i] > least)) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t z) { return s[a] > s[z]; });
      for (int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) == most) break;
        const bool dropped = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
          return overlaps_more(box[static_cast<size_t>(i)], box[static_cast<size_t>(k)], iou);
        });
        if (dropped) continue;
        kept.push_back(i);
        selected.insert(selected.end(), {b, cls, i});
      }
    }
  }
  c.set(0, Tensor::from_i64(DType::i64, {static_cast<int64_t>(selected.size()) / 3, 3}, selected));
}

const OpDef kNonMaxSuppression = {.name = "non_max_suppression",
                                  .onnx = "NonMaxSuppression",
                                  .doc = "y[j] = (batch, class, box) of the boxes kept",
                                  .types = "Tf T x f f",
                                  .min_inputs = 2,
                                  .max_inputs = 5,
                                  .infer = infer_nms,
                                  .reference = nms_reference};
const RegisterOp kRegisterNonMaxSuppression(kNonMaxSuppression);

}  // namespace
}  // namespace trine
