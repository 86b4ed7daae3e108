// What devices share that do their work when they are asked for it: a stream is always up to date.
#pragma once

#include "compute/backend_table.h"

namespace trine::compute {

// One device of this name, with streams, waiting and host calls. Left to the backend: properties, memory, events.
BackendTable immediate_backend(std::string_view name);

}  // namespace trine::compute
