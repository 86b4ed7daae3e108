#include "cudart/driver_graph.h"

namespace trine::cudart {
namespace {

// Ended, whatever happens to it.
class OpenStream {
 public:
  OpenStream(const compute::BackendTable& table, int device)
      : table_(table), device_(device), stream_(table.create_stream(device)) {}
  ~OpenStream() { table_.destroy_stream(device_, stream_); }
  OpenStream(const OpenStream&) = delete;
  compute::StreamHandle get() const { return stream_; }

 private:
  const compute::BackendTable& table_;
  int device_;
  compute::StreamHandle stream_;
};

}  // namespace

std::shared_ptr<const DriverGraph> DriverGraph::make(int device, const std::vector<Operation>& operations) {
  const auto& table = *machine().table;
  if (!machine().gpu || !table.graphs || operations.empty()) return nullptr;
  const OpenStream stream(table, device);
  table.graphs->begin_capture(device, stream.get());
  try {
    for (const Operation& operation : operations) operation(stream.get());
  } catch (const Error&) {
    table.graphs->abort_capture(device, stream.get());
    return nullptr;
  }
  try {
    return std::shared_ptr<const DriverGraph>(new DriverGraph(device, table.graphs->end_capture(device, stream.get())));
  } catch (const Error&) {  // one of them ended it
    return nullptr;
  }
}

DriverGraph::~DriverGraph() { machine().table->graphs->destroy(device_, graph_); }

void DriverGraph::launch(compute::StreamHandle stream) const {
  machine().table->graphs->launch(device_, graph_, stream);
}

}  // namespace trine::cudart
