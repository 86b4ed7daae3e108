// Streams, events and graphs: what their handles point at.
//
// A stream in a capture adds operations to a graph instead of doing them. Graphs are lists of operations in an order
// that holds to their dependencies; a launch goes through the list on one stream, or on a GPU launches what the driver
// made of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cudart/state.h"

namespace trine::cudart {
using Operation = std::function<void(compute::StreamHandle)>;
struct Capture {
  cudaGraph_t graph;
  cudaStream_t origin;
  bool open = true;
};
class DriverGraph;
}  // namespace trine::cudart

struct CUgraphNode_st {
  cudaGraphNodeType type;
  trine::cudart::Operation run;
  std::vector<cudaGraphNode_t> after;
  cudaGraph_t graph = nullptr;
  // Of kernels, which may be changed: the function, its shape and copies of its arguments.
  const void* function = nullptr;
  cudaKernelNodeParams launch{};
  std::shared_ptr<std::vector<std::vector<char>>> values;
  std::vector<void*> pointers;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  std::vector<trine::cudart::Operation> operations;  // in the order of the graph's nodes
  std::vector<cudaGraphNode_t> nodes;                // they came from
  std::vector<cudaGraphNodeType> types;
  std::shared_ptr<const trine::cudart::DriverGraph> driver;  // null: the list is gone through
  bool asked_driver = false;
};

struct CUstream_st {
  int device = 0;
  trine::compute::StreamHandle handle = nullptr;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<trine::cudart::Capture> capture;
  // What orders this stream and the default stream on a GPU: how much each was given, and how much the other waited
  // for.
  uint64_t given = 0, default_waited_for = 0, waited_for_default = 0;
  trine::compute::EventHandle order = nullptr;  // recorded when the other must wait
};

struct CUevent_st {
  int device = 0;
  trine::compute::EventHandle handle = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  std::shared_ptr<trine::cudart::Capture> capture;  // that it was recorded in
};

namespace trine::cudart {

// The stream behind a handle of the program: 0, cudaStreamLegacy and cudaStreamPerThread are one for each device.
// Throws Failure{cudaErrorInvalidResourceHandle}.
CUstream_st& stream_of(cudaStream_t handle);
// Does it now, or adds it to the graph that the stream is captured into.
CUgraphNode_st* submit(CUstream_st& stream, cudaGraphNodeType type, Operation operation);
void synchronize(CUstream_st& stream);
void synchronize_all();
void restart_streams();  // those of a device that failed work again

// The default stream waits for what blocking streams were given before, and they for it; then `stream` is given work.
void wait_for_others(CUstream_st& stream);

}  // namespace trine::cudart
