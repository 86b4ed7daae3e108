// Work that is given once and done many times: a stream is captured, its Graph launched.
//
//   stream.begin_capture();
//   stream.upload(x, 0, host, bytes);                            // kept, not done
//   kernel.launch(stream, shape, x.data(), 2.0f, n);
//   trine::compute::Graph graph = stream.end_capture();
//   for (int i = 0; i < 100; ++i) graph.launch(stream);          // one call for all of it
//   graph.update(0, shape, x.data(), 3.0f, n);                   // the first kernel, from the next launch on
//
// While it is captured a stream takes copies, fills, kernels, host calls and events; synchronize(), allocate() and
// launches of graphs throw Error{invalid_argument}. A stream that waits for an event recorded in a capture joins it,
// and must be waited for by the captured stream before end_capture(). Events in a capture order work and are not timed.
// Copies read and write the memory that they name when the graph runs, so it must still be there: buffers, host memory,
// and what host calls refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "trine/compute/device.h"
#include "trine/compute/module.h"

namespace trine::compute {

// Cheap handle; copies are the same graph. Its modules stay loaded. One thread at a time.
class Graph {
 public:
  // All of it, in order, after what `stream` was given before. The stream is of the captured device; it need not be the
  // captured one. Throws Error{invalid_argument}, and what the operations throw.
  void launch(Stream& stream) const;

  size_t kernels() const;  // launches in it, numbered in the order in which they were captured

  // Another shape and other arguments for launch `index`, which stays one of the same kernel; from the next launch()
  // on. Throws Error{invalid_argument}, Error{unsupported} where the driver cannot.
  template <class... T>
  void update(size_t index, const LaunchShape& shape, const T&... arguments) {
    const void* pointers[] = {&arguments..., nullptr};
    const uint32_t bytes[] = {uint32_t{sizeof(T)}..., 0};
    update_raw(index, shape, pointers, bytes, sizeof...(T));
  }
  void update_raw(size_t index, const LaunchShape& shape, const void* const* arguments, const uint32_t* bytes,
                  size_t count);

  struct State;

 private:
  friend class Stream;
  explicit Graph(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace trine::compute
