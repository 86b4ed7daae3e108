// How streams take work, for the files of src/compute.
#pragma once

#include "compute/capture.h"
#include "trine/compute/device.h"

namespace trine::compute {

// `work(handle)` is done now, or kept where the capture is a list.
template <class Work>
void Stream::submit(const Work& work) {
  if (capturing() && !capture_->by) capture_->operations.push_back(work);
  else work(handle_);
}

}  // namespace trine::compute
