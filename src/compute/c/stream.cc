// Streams, what they are given, and events.
#include "compute/c/handles.h"

using namespace trine::compute::c;
using trine::Error;
using trine::ErrorCode;
using trine::compute::CopyKind;
using trine::compute::Pitched;

namespace {

// Names the call that null was given to.
struct On {
  const char* call;
  trine::compute::Stream& stream(trine_stream* s) const {
    need(s, call, "stream");
    return s->value;
  }
  const trine::compute::Buffer& buffer(const trine_buffer* b) const {
    need(b, call, "buffer");
    return b->value;
  }
  const trine::compute::Event& event(const trine_event* e) const {
    need(e, call, "event");
    return e->value;
  }
  // Memory of the host, or of a device by its address.
  void memory(const void* p, size_t bytes) const {
    if (bytes) need(p, call, "memory");
  }
  Pitched pitched(const trine_pitched* p) const {
    need(p, call, "a side");
    need(p->data, call, "memory");
    return {p->data, p->row_bytes, p->slice_bytes, p->bytes ? p->bytes : SIZE_MAX};
  }
};

}  // namespace

extern "C" {

trine_status trine_stream_create(const trine_device* device, int32_t priority, trine_stream** stream) {
  return call([&] {
    need(device, "trine_stream_create", "device");
    need(stream, "trine_stream_create", "stream");
    *stream = new trine_stream{device->value.create_stream(priority)};
  });
}
void trine_stream_destroy(trine_stream* stream) { delete stream; }
int32_t trine_stream_priority(const trine_stream* stream) { return stream ? stream->value.priority() : 0; }

trine_status trine_stream_synchronize(trine_stream* stream) {
  return call([&] { On{"trine_stream_synchronize"}.stream(stream).synchronize(); });
}

trine_status trine_stream_done(const trine_stream* stream, int* done) {
  return call([&] {
    need(stream, "trine_stream_done", "stream");
    need(done, "trine_stream_done", "done");
    *done = stream->value.done();
  });
}

trine_status trine_stream_call(trine_stream* stream, void (*function)(void*), void* argument) {
  return call([&] {
    trine::compute::Stream& on = On{"trine_stream_call"}.stream(stream);
    need(reinterpret_cast<const void*>(function), "trine_stream_call", "function");
    on.call([function, argument] { function(argument); });
  });
}

trine_status trine_upload(trine_stream* stream, const trine_buffer* to, size_t offset, const void* from, size_t bytes) {
  return call([&] {
    constexpr On on{"trine_upload"};
    on.memory(from, bytes);
    on.stream(stream).upload(on.buffer(to), offset, from, bytes);
  });
}

trine_status trine_download(trine_stream* stream, void* to, const trine_buffer* from, size_t offset, size_t bytes) {
  return call([&] {
    constexpr On on{"trine_download"};
    on.memory(to, bytes);
    on.stream(stream).download(to, on.buffer(from), offset, bytes);
  });
}

trine_status trine_copy(trine_stream* stream, const trine_buffer* to, size_t to_offset, const trine_buffer* from,
                        size_t from_offset, size_t bytes) {
  return call([&] {
    constexpr On on{"trine_copy"};
    on.stream(stream).copy(on.buffer(to), to_offset, on.buffer(from), from_offset, bytes);
  });
}

trine_status trine_copy_pitched(trine_stream* stream, const trine_pitched* to, const trine_pitched* from,
                                size_t width_bytes, size_t rows, size_t slices, trine_copy_kind kind) {
  return call([&] {
    constexpr On on{"trine_copy_pitched"};
    if (kind < TRINE_HOST_TO_DEVICE || kind > TRINE_DEVICE_TO_DEVICE)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("trine_copy_pitched: kind {}; accepted are those of trine_copy_kind", int{kind}));
    on.stream(stream).copy(on.pitched(to), on.pitched(from), {width_bytes, rows, slices}, static_cast<CopyKind>(kind));
  });
}

trine_status trine_upload_to(trine_stream* stream, void* to_device, const void* from, size_t bytes) {
  return call([&] {
    constexpr On on{"trine_upload_to"};
    on.memory(to_device, bytes);
    on.memory(from, bytes);
    on.stream(stream).upload(to_device, from, bytes);
  });
}

trine_status trine_download_from(trine_stream* stream, void* to, const void* from_device, size_t bytes) {
  return call([&] {
    constexpr On on{"trine_download_from"};
    on.memory(to, bytes);
    on.memory(from_device, bytes);
    on.stream(stream).download(to, from_device, bytes);
  });
}

trine_status trine_fill(trine_stream* stream, const trine_buffer* buffer, size_t offset, size_t bytes, uint8_t value) {
  return call([&] {
    constexpr On on{"trine_fill"};
    on.stream(stream).fill(on.buffer(buffer), offset, bytes, value);
  });
}

trine_status trine_event_create(const trine_device* device, trine_event** event) {
  return call([&] {
    need(device, "trine_event_create", "device");
    need(event, "trine_event_create", "event");
    *event = new trine_event{device->value.create_event()};
  });
}
void trine_event_destroy(trine_event* event) { delete event; }

trine_status trine_event_record(trine_stream* stream, const trine_event* event) {
  return call([&] {
    constexpr On on{"trine_event_record"};
    on.stream(stream).record(on.event(event));
  });
}

trine_status trine_event_wait(trine_stream* stream, const trine_event* event) {
  return call([&] {
    constexpr On on{"trine_event_wait"};
    on.stream(stream).wait(on.event(event));
  });
}

trine_status trine_event_synchronize(const trine_event* event) {
  return call([&] { On{"trine_event_synchronize"}.event(event).synchronize(); });
}

trine_status trine_event_done(const trine_event* event, int* done) {
  return call([&] {
    const trine::compute::Event& which = On{"trine_event_done"}.event(event);
    need(done, "trine_event_done", "done");
    *done = which.done();
  });
}

trine_status trine_event_seconds(const trine_event* begin, const trine_event* end, double* seconds) {
  return call([&] {
    constexpr On on{"trine_event_seconds"};
    need(seconds, on.call, "seconds");
    *seconds = on.event(end).seconds_since(on.event(begin));
  });
}

}  // extern "C"
