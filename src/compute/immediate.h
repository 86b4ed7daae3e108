// What devices share that do their work when they are asked for it: a stream is always up to date.
#pragma once

#include "compute/backend_table.h"

namespace trine::compute {

// One device of this name, with streams, waiting and host calls. Left to the backend: properties, memory, events.
BackendTable immediate_backend(std::string_view name);

// A kernel that fails leaves the stream failed, as CUDA leaves its device: later launches and synchronize() of this
// stream throw Error{device} with that text, until the stream is destroyed.
void fail_stream(StreamHandle stream, const std::string& text);  // the first failure stays
void check_stream(StreamHandle stream);

}  // namespace trine::compute
