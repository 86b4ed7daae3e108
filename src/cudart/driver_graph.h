// What the driver of a GPU makes of a graph's operations: one launch for all of them.
#pragma once

#include <memory>
#include <vector>

#include "cudart/stream.h"

namespace trine::cudart {

class DriverGraph {
 public:
  // Captured from a stream of its own. Null on the CPU, and where the driver cannot capture one of the operations:
  // those that wait, as copies between memory of the host.
  static std::shared_ptr<const DriverGraph> make(int device, const std::vector<Operation>& operations);
  ~DriverGraph();
  DriverGraph(const DriverGraph&) = delete;

  int device() const { return device_; }
  void launch(compute::StreamHandle stream) const;

 private:
  DriverGraph(int device, compute::GraphHandle graph) : device_(device), graph_(graph) {}
  int device_;
  compute::GraphHandle graph_;
};

}  // namespace trine::cudart
