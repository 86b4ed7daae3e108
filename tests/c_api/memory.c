/* Memory and copies. */
#include "check.h"

enum { kBytes = 1024 };

static void test_flat(trine_stream* stream, trine_buffer* a, trine_buffer* b) {
  unsigned char in[kBytes], out[kBytes];
  for (int i = 0; i < kBytes; ++i) in[i] = (unsigned char)(i * 7 + 3);
  memset(out, 0xee, sizeof out);
  OK(trine_fill(stream, b, 0, kBytes, 0x5a));
  OK(trine_upload(stream, a, 0, in, kBytes));
  OK(trine_copy(stream, b, 8, a, 0, 1000));
  OK(trine_download(stream, out, b, 0, kBytes));
  OK(trine_stream_synchronize(stream));
  for (int i = 0; i < kBytes; ++i) CHECK(out[i] == (i < 8 || i >= 1008 ? 0x5a : in[i - 8]));
  OK(trine_upload_to(stream, trine_buffer_data(a), in + 100, 50));
  OK(trine_download_from(stream, out, trine_buffer_data(a), 51));
  OK(trine_stream_synchronize(stream));
  CHECK(memcmp(out, in + 100, 50) == 0 && out[50] == in[50]);
  OK(trine_upload(stream, a, kBytes, NULL, 0));
}

static void test_pitched(trine_stream* stream, trine_buffer* a) {
  const char host[12] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'};
  char back[40];
  memset(back, '.', sizeof back);
  const trine_pitched device = {trine_buffer_data(a), 5, 20, kBytes};
  const trine_pitched from = {(void*)host, 0, 0, sizeof host}, to = {back, 5, 20, sizeof back};
  OK(trine_copy_pitched(stream, &device, &from, 3, 2, 2, TRINE_HOST_TO_DEVICE));
  OK(trine_copy_pitched(stream, &to, &device, 3, 2, 2, TRINE_DEVICE_TO_HOST));
  OK(trine_stream_synchronize(stream));
  CHECK(memcmp(back, "abc..def............ghi..jkl............", 40) == 0);
  const trine_pitched narrow = {back, 2, 0, 0}, nothing = {NULL, 0, 0, 0};
  FAILS(TRINE_INVALID_ARGUMENT, trine_copy_pitched(stream, &narrow, &device, 3, 2, 2, TRINE_DEVICE_TO_HOST), "overlap");
  FAILS(TRINE_INVALID_ARGUMENT, trine_copy_pitched(stream, &to, &device, 3, 2, 3, TRINE_DEVICE_TO_HOST),
        "there are 40");
  FAILS(TRINE_INVALID_ARGUMENT, trine_copy_pitched(stream, &to, &device, 3, 2, 2, (trine_copy_kind)3), "kind 3");
  REFUSES_NULL(trine_copy_pitched(stream, NULL, &device, 3, 2, 2, TRINE_DEVICE_TO_HOST), "a side");
  REFUSES_NULL(trine_copy_pitched(stream, &nothing, &device, 3, 2, 2, TRINE_DEVICE_TO_HOST), "memory");
  REFUSES_NULL(trine_copy_pitched(NULL, &to, &device, 3, 2, 2, TRINE_DEVICE_TO_HOST), "stream");
}

static void test_refusals(trine_device* device, trine_stream* stream, trine_buffer* a) {
  char byte = 0;
  trine_buffer* none = NULL;
  trine_host_buffer* no_host = NULL;
  void* address = NULL;
  FAILS(TRINE_INVALID_ARGUMENT, trine_upload(stream, a, kBytes, &byte, 1), "must lie within");
  FAILS(TRINE_INVALID_ARGUMENT, trine_download(stream, &byte, a, 1, kBytes), "must lie within");
  FAILS(TRINE_INVALID_ARGUMENT, trine_copy(stream, a, 0, a, 1, kBytes), "must lie within");
  FAILS(TRINE_INVALID_ARGUMENT, trine_fill(stream, a, 1, kBytes, 0), "must lie within");
  FAILS(TRINE_OUT_OF_MEMORY, trine_buffer_create(device, (size_t)1 << 60, &none), "cannot allocate");
  CHECK(none == NULL);
  REFUSES_NULL(trine_buffer_create(NULL, 1, &none), "trine_buffer_create: device");
  REFUSES_NULL(trine_buffer_create(device, 1, NULL), "buffer");
  REFUSES_NULL(trine_buffer_create_ordered(NULL, 1, &none), "stream");
  REFUSES_NULL(trine_buffer_create_ordered(stream, 1, NULL), "buffer");
  REFUSES_NULL(trine_host_buffer_create(NULL, 1, &no_host), "device");
  REFUSES_NULL(trine_host_buffer_create(device, 1, NULL), "buffer");
  REFUSES_NULL(trine_host_buffer_device_data(NULL, &address), "buffer");
  REFUSES_NULL(trine_upload(NULL, a, 0, &byte, 1), "stream");
  REFUSES_NULL(trine_upload(stream, NULL, 0, &byte, 1), "buffer");
  REFUSES_NULL(trine_upload(stream, a, 0, NULL, 1), "memory");
  REFUSES_NULL(trine_download(stream, NULL, a, 0, 1), "memory");
  REFUSES_NULL(trine_download(stream, &byte, NULL, 0, 1), "buffer");
  REFUSES_NULL(trine_copy(stream, a, 0, NULL, 0, 1), "buffer");
  REFUSES_NULL(trine_copy(NULL, a, 0, a, 0, 1), "stream");
  REFUSES_NULL(trine_upload_to(stream, NULL, &byte, 1), "memory");
  REFUSES_NULL(trine_download_from(stream, &byte, NULL, 1), "memory");
  REFUSES_NULL(trine_fill(stream, NULL, 0, 1, 0), "buffer");
  CHECK(trine_buffer_data(NULL) == NULL && trine_buffer_bytes(NULL) == 0 && trine_host_buffer_data(NULL) == NULL);
}

void test_memory(trine_device* device) {
  trine_stream* stream = NULL;
  trine_buffer *a = NULL, *b = NULL, *empty = NULL;
  trine_host_buffer* host = NULL;
  void* address = NULL;
  OK(trine_stream_create(device, 0, &stream));
  OK(trine_buffer_create(device, kBytes, &a));
  OK(trine_buffer_create_ordered(stream, kBytes, &b));
  OK(trine_buffer_create(device, 0, &empty));
  OK(trine_host_buffer_create(device, kBytes, &host));
  CHECK(trine_buffer_bytes(a) == kBytes && trine_buffer_data(b) != NULL && trine_buffer_data(empty) == NULL);
  OK(trine_host_buffer_device_data(host, &address));
  CHECK(address != NULL && trine_host_buffer_data(host) != NULL);
  REFUSES_NULL(trine_host_buffer_device_data(host, NULL), "address");
  test_flat(stream, a, b);
  test_pitched(stream, a);
  test_refusals(device, stream, a);
  trine_host_buffer_destroy(host);
  trine_buffer_destroy(empty);
  trine_buffer_destroy(b);
  trine_buffer_destroy(a);
  trine_stream_destroy(stream);
  trine_buffer_destroy(NULL);
  trine_host_buffer_destroy(NULL);
  trine_stream_destroy(NULL);
}
