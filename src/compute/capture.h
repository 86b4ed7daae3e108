// What streams collect between begin_capture() and end_capture(), for the files of src/compute.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "compute/backend_table.h"

namespace trine::compute {

struct CapturedLaunch;

// Shared by the streams and events of a capture, and by its Graph.
struct Capture {
  bool open = true;      // until end_capture()
  StreamHandle origin;   // where it began, and must end
  const GraphTable* by;  // the device records; null: `operations` does, in the order in which streams were given them
  std::vector<std::function<void(StreamHandle)>> operations;
  std::vector<std::shared_ptr<CapturedLaunch>> kernels;
  std::vector<std::shared_ptr<void>> held;  // what operations refer to
};

}  // namespace trine::compute
