// What the numbers of a contraction are, and what its 8-bit integers stand for, as a list says it:
//
//   --dt=T  --dt=SRC:WEI:DST                                     types; older lists write --cfg=u8s8u8
//   --attr-scales=src:common:0.5+wei:per_oc+dst:common:2         older: --attr-oscale=per_oc:0.5
//   --attr-zero-points=src:common:3+dst:common:5
//   --attr-post-ops=sum:0.5:3+relu                               scale and zero point of the residual
#pragma once

#include "entry.h"
#include "trine/dnn/element_types.h"

namespace trine::bench {

// Whether problems of this kind come in other types than f32.
bool has_number_types(Driver driver);

struct NumberTypes {
  dnn::ElementTypes types;
  // Its `scale` is null: scales of sums are made up, so that results fit the output; what the list tells is whether
  // there is one for each channel.
  dnn::Quantization quantization;
  std::string unsupported;  // why these are none of ours; empty: they are
};
NumberTypes number_types_of(const Entry& entry);

}  // namespace trine::bench
