#include "compute/trace.h"

#include <exception>

namespace trine::compute {

std::atomic<const Listener*> listener{nullptr};

void Activity::start(const Listener* hears, What what, std::string_view backend, int device, StreamHandle stream,
                     const TraceName* name) {
  event_ = hears->begin(what, backend, device, stream, name);
  if (!event_) return;
  listener_ = hears;
  exceptions_ = std::uncaught_exceptions();
}

void Activity::finish() {
  if (std::uncaught_exceptions() > exceptions_) event_->failed = true;
  listener_->end(event_);
}

}  // namespace trine::compute
