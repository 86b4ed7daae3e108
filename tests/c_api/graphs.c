/* Graphs, and kernels that fail. */
#include "check.h"

static const char kSource[] =
    "__global__ void add(int* x, int a) { x[threadIdx.x] += a; }\n"
    "__global__ void fail() { __trap(); }\n";

static void count(void* calls) { ++*(int*)calls; }

static void test_capture(trine_stream* stream, trine_buffer* buffer, trine_kernel* kernel) {
  int x[8], a = 3, calls = 0;
  trine_graph* graph = NULL;
  trine_buffer* more = NULL;
  void* data = trine_buffer_data(buffer);
  const void* arguments[] = {&data, &a};
  const trine_launch_shape eight = {sizeof eight, {1, 1, 1}, {8, 1, 1}, 0, 0}, four = {sizeof four, {0}, {4}, 0, 0};
  OK(trine_fill(stream, buffer, 0, sizeof x, 0));
  OK(trine_capture_begin(stream));
  FAILS(TRINE_INVALID_ARGUMENT, trine_capture_begin(stream), "being captured");
  FAILS(TRINE_INVALID_ARGUMENT, trine_stream_synchronize(stream), "being captured");
  FAILS(TRINE_INVALID_ARGUMENT, trine_buffer_create_ordered(stream, 8, &more), "being captured");
  OK(trine_kernel_launch(kernel, stream, &eight, arguments, NULL, 2));
  OK(trine_stream_call(stream, count, &calls));
  OK(trine_capture_end(stream, &graph));
  FAILS(TRINE_INVALID_ARGUMENT, trine_capture_end(stream, &graph), "not being captured");
  CHECK(trine_graph_kernel_count(graph) == 1 && trine_graph_kernel_count(NULL) == 0);
  OK(trine_graph_launch(graph, stream));
  OK(trine_graph_launch(graph, stream));
  a = 100;
  OK(trine_graph_update(graph, 0, &four, arguments, NULL, 2));
  OK(trine_graph_launch(graph, stream));
  OK(trine_download(stream, x, buffer, 0, sizeof x));
  OK(trine_stream_synchronize(stream));
  for (int i = 0; i < 8; ++i) CHECK(x[i] == (i < 4 ? 106 : 6));
  CHECK(calls == 3);

  FAILS(TRINE_INVALID_ARGUMENT, trine_graph_update(graph, 1, &four, arguments, NULL, 2), "kernel 1 of a graph of 1");
  FAILS(TRINE_INVALID_ARGUMENT, trine_graph_update(graph, 0, &four, arguments, NULL, 1), "1 arguments");
  REFUSES_NULL(trine_graph_update(NULL, 0, &four, arguments, NULL, 2), "trine_graph_update: graph");
  REFUSES_NULL(trine_graph_launch(NULL, stream), "graph");
  REFUSES_NULL(trine_graph_launch(graph, NULL), "stream");
  REFUSES_NULL(trine_capture_begin(NULL), "stream");
  REFUSES_NULL(trine_capture_end(NULL, &graph), "stream");
  REFUSES_NULL(trine_capture_end(stream, NULL), "graph");
  trine_graph_destroy(graph);
  trine_graph_destroy(NULL);
}

/* The stream stays failed; others do not. On a GPU the whole device does, so this is the CPU's. */
static void test_failure(trine_device* device, const trine_module* module) {
  trine_stream* stream = NULL;
  trine_kernel* fail = NULL;
  OK(trine_stream_create(device, 0, &stream));
  OK(trine_kernel_get(module, "fail", &fail));
  FAILS(TRINE_DEVICE_FAILED, trine_kernel_launch(fail, stream, NULL, NULL, NULL, 0), "kernel 'fail()'");
  FAILS(TRINE_DEVICE_FAILED, trine_stream_synchronize(stream), "kernel 'fail()'");
  FAILS(TRINE_DEVICE_FAILED, trine_kernel_launch(fail, stream, NULL, NULL, NULL, 0), "kernel 'fail()'");
  trine_kernel_destroy(fail);
  trine_stream_destroy(stream);
}

void test_graphs(trine_device* device) {
  trine_stream* stream = NULL;
  trine_module* module = NULL;
  trine_buffer* buffer = NULL;
  trine_kernel* add = NULL;
  trine_device_info info = {sizeof info};
  OK(trine_device_get_info(device, &info));
  OK(trine_stream_create(device, 0, &stream));
  OK(trine_buffer_create(device, 8 * sizeof(int), &buffer));
  OK(trine_module_compile(device, kSource, NULL, &module));
  OK(trine_kernel_get(module, "add", &add));
  if (strcmp(info.id, "cpu") == 0) test_failure(device, module);
  test_capture(stream, buffer, add);
  trine_module_destroy(module); /* the kernel keeps it */
  trine_kernel_destroy(add);
  trine_buffer_destroy(buffer);
  trine_stream_destroy(stream);
}
