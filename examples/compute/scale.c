/* A kernel in CUDA C++, compiled and launched from C. `scale [device]`: "cpu", "cuda:0". */
#include <stdio.h>
#include <stdlib.h>

#include "trine/compute/c.h"

static void ok(trine_status status) {
  if (status == TRINE_OK) return;
  fprintf(stderr, "%s: %s\n", trine_status_name(status), trine_last_error());
  exit(status);
}

static const char source[] =
    "__global__ void scale(float* x, float a, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] *= a;\n"
    "}\n";

int main(int argc, char** argv) {
  enum { kCount = 1000 };
  float host[kCount], a = 3;
  int n = kCount;
  for (int i = 0; i < kCount; ++i) host[i] = (float)i;

  trine_device* device;
  trine_stream* stream;
  trine_buffer* x;
  trine_module* module;
  trine_kernel* kernel;
  ok(trine_device_open(argc > 1 ? argv[1] : "cpu", &device));
  ok(trine_stream_create(device, 0, &stream));
  ok(trine_buffer_create(device, sizeof host, &x));
  ok(trine_module_compile(device, source, NULL, &module));
  ok(trine_kernel_get(module, "scale", &kernel));

  void* data = trine_buffer_data(x);
  const void* arguments[] = {&data, &a, &n};
  const uint32_t bytes[] = {sizeof data, sizeof a, sizeof n};
  const trine_launch_shape shape = {sizeof shape, {(kCount + 127) / 128}, {128}, 0, 0};
  ok(trine_upload(stream, x, 0, host, sizeof host));
  ok(trine_kernel_launch(kernel, stream, &shape, arguments, bytes, 3));
  ok(trine_download(stream, host, x, 0, sizeof host));
  ok(trine_stream_synchronize(stream));
  printf("%g %g\n", host[1], host[kCount - 1]);

  trine_kernel_destroy(kernel);
  trine_module_destroy(module);
  trine_buffer_destroy(x);
  trine_stream_destroy(stream);
  trine_device_destroy(device);
  return host[kCount - 1] == 2997 ? 0 : 1;
}
