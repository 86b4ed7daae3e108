/* Streams, host calls, events. */
#include "check.h"

static void count(void* calls) { ++*(int*)calls; }

void test_streams(trine_device* device) {
  trine_stream *first = NULL, *second = NULL;
  trine_event *begin = NULL, *end = NULL;
  trine_device_limits limits = {sizeof limits};
  int calls = 0, done = 0;
  double seconds = -1;
  OK(trine_device_get_limits(device, &limits));
  OK(trine_stream_create(device, 0, &first));
  OK(trine_stream_create(device, limits.greatest_priority + 5, &second));
  CHECK(trine_stream_priority(first) == 0 && trine_stream_priority(second) == limits.greatest_priority);
  CHECK(trine_stream_priority(NULL) == 0);
  OK(trine_event_create(device, &begin));
  OK(trine_event_create(device, &end));
  OK(trine_event_record(first, begin));
  OK(trine_stream_call(first, count, &calls));
  OK(trine_event_record(first, end));
  OK(trine_event_wait(second, end));
  OK(trine_stream_call(second, count, &calls));
  OK(trine_stream_synchronize(second));
  OK(trine_event_synchronize(end));
  OK(trine_event_seconds(begin, end, &seconds));
  CHECK(calls == 2 && seconds >= 0 && seconds < 60);
  OK(trine_stream_done(second, &done));
  CHECK(done == 1);
  done = 0;
  OK(trine_event_done(end, &done));
  CHECK(done == 1);

  REFUSES_NULL(trine_stream_create(NULL, 0, &first), "trine_stream_create: device");
  REFUSES_NULL(trine_stream_create(device, 0, NULL), "stream");
  REFUSES_NULL(trine_stream_synchronize(NULL), "stream");
  REFUSES_NULL(trine_stream_done(NULL, &done), "stream");
  REFUSES_NULL(trine_stream_done(first, NULL), "done");
  REFUSES_NULL(trine_stream_call(NULL, count, &calls), "stream");
  REFUSES_NULL(trine_stream_call(first, NULL, &calls), "function");
  REFUSES_NULL(trine_event_create(NULL, &begin), "device");
  REFUSES_NULL(trine_event_create(device, NULL), "event");
  REFUSES_NULL(trine_event_record(NULL, begin), "stream");
  REFUSES_NULL(trine_event_record(first, NULL), "event");
  REFUSES_NULL(trine_event_wait(NULL, begin), "stream");
  REFUSES_NULL(trine_event_wait(first, NULL), "event");
  REFUSES_NULL(trine_event_synchronize(NULL), "event");
  REFUSES_NULL(trine_event_done(NULL, &done), "event");
  REFUSES_NULL(trine_event_done(begin, NULL), "done");
  REFUSES_NULL(trine_event_seconds(NULL, end, &seconds), "event");
  REFUSES_NULL(trine_event_seconds(begin, NULL, &seconds), "event");
  REFUSES_NULL(trine_event_seconds(begin, end, NULL), "seconds");
  trine_event_destroy(end);
  trine_event_destroy(begin);
  trine_event_destroy(NULL);
  trine_stream_destroy(second);
  trine_stream_destroy(first);
}
